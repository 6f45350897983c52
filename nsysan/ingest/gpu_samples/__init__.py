"""What monitors print of GPUs, sample by sample."""
