"""One analysis: an order goes to a process of its own, and what it tells comes back line by line."""
