"""Runs held against each other: what changed between two, what was over time, and what a gate lets through."""
