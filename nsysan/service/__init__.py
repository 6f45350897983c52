"""Upload, queue and report pages over HTTP."""
