"""What compute and communication cost each other on a GPU: time together, and time spent waiting for each other."""
