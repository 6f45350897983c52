"""What NVIDIA Nsight Systems writes: its tables, its reports, and its own exporter."""
