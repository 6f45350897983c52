"""One section of the page of a comparison a module: it declares ``SECTION``."""
