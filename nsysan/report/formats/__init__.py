"""One way to write a run down a module: it declares ``RENDERER``, and its stem is the format's id."""
