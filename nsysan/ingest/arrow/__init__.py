"""Tables that lie in a folder, one file each, as Parquet or as Arrow streams."""
