"""One question a module, answered by one frozen result whose field names are its keys in ``run.json``."""
