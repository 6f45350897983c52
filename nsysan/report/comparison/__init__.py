"""Two runs side by side, for people: sentences first, then figures; as text and as a page."""
