"""Which kernels are of a class: names are few, kernels many."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.kernel_class import classify
from nsysan.model.arrays import BoolArray, IdArray
from nsysan.model.distinct import coded
from nsysan.model.kernels import KernelClass
from nsysan.model.trace import Trace


def are_of_class(trace: Trace, name_ids: IdArray, wanted: KernelClass) -> BoolArray:
    """Which of the kernels with these names are of the class."""
    names, name_of = coded(name_ids)
    are_wanted = [classify(trace.text(name_id)).kernel_class is wanted for name_id in names.tolist()]
    return np.array(are_wanted, np.bool_)[name_of]
