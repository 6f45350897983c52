"""The kinds of evidence: each module here that declares ``KIND`` is one."""
