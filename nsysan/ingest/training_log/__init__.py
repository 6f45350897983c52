"""Logs of training frameworks, line by line."""
