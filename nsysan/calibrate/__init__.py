"""Measuring what a machine reaches: matrix products, memory, links, launches, collectives."""
