"""Which stage of a training step work, time of a GPU and time of the host belong to."""
