"""One module for each format that can be read; each declares ``READER``."""
