"""The only place that composes the rooms: reports in, a Run out."""
