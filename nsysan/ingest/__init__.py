"""Recognises an input and reads it into a ``Trace``."""
