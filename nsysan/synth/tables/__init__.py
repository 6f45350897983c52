"""The tables of an export as nsys writes them, and the file they lie in."""
