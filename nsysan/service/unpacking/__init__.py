"""Archives become the reports they hold, however they were made: nothing leaves the folder, nothing is endless."""
