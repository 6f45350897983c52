"""SQLite files from anywhere, read without leaving a mark and without trusting them."""
