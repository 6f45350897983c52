"""One scenario a module: each declares ``SCENARIO``."""
