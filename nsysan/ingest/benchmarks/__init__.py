"""What other benchmarks of hardware print, as ceilings."""
