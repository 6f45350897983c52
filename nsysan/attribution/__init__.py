"""Who caused what, computed once: kernel class, activity kind, device and physical GPU, window."""
