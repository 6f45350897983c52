"""Why a GPU was idle: each gap cut at the call that ended it, and each piece given to one cause."""
