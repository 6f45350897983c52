"""What nccl-tests prints and writes."""
