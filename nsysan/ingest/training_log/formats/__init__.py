"""What each framework writes: each module here that declares ``FORMAT`` reads the lines of one."""
