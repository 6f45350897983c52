"""What the operating system, the allocator and the counters of a GPU make of a simulated job."""
