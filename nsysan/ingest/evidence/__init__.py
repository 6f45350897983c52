"""Reading what is known of a run besides its traces."""
