"""Training steps as programs of host threads: layers, operators, collectives."""
