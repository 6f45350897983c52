"""nsysan: where the time of a training job went, read from NVIDIA Nsight Systems traces."""

__version__ = "0.1.0"
