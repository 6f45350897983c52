"""What can be measured: each module here that declares ``MEASUREMENT``."""
