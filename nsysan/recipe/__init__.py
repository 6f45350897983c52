"""The recipes that ``nsys recipe`` finds here: each folder is one, by the name it is called by."""
