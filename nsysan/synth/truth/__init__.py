"""What is true of a simulated job, computed apart from nsysan's own analyses."""
