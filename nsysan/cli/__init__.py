"""One command a module: parse, call the pipeline, print, exit code."""
