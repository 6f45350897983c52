"""Collectives over all ranks: who ran which with whom, who waited for whom, and how the ranks' clocks relate."""
