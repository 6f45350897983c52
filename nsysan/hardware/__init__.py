"""What a machine could do: links and rates by GPU model, each with its source."""
