"""How ranks share a job: one way a module."""
