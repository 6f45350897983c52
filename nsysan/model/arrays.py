"""What the columns of tables are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
IdArray = npt.NDArray[np.signedinteger[Any]]
"""Ids, kinds and places, in a type that is wide enough for them: they are compared and looked up, not computed with."""
