"""A ``Run`` becomes views, and views become a page or a text. Nothing is computed here that a result does not hold."""
