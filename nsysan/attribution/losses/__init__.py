"""What each device lost in each step, and to what: the arrays behind recoverable time."""
