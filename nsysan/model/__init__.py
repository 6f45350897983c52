"""The shared nouns: tables, traces, results, findings, the saved run, units and errors. No I/O."""
