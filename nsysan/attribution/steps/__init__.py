"""Training steps: what marks them, and how they tile the time of each device."""
