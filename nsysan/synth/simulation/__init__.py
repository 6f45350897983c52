"""What a host thread may do, and how threads and GPUs of all ranks run it together."""
