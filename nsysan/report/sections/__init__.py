"""One section of the page a module: it declares ``SECTION``, and its template has the same stem."""
