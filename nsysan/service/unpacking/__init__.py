"""Archives become the files they hold, however they were made: nothing leaves the folder, nothing is endless."""
