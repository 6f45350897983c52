"""What the timeline is drawn from: lanes of GPUs and streams, ranges of threads, single activities where they count."""
