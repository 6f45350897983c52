"""One rule a module: results in, findings with evidence and advice out; and the diagnosis over all of them."""
