"""Writes schema-faithful Nsight Systems exports, by hand or from a simulated training job, and their truth."""
