"""Interval algebra on int64 nanosecond arrays: everything is one sorted sweep."""
