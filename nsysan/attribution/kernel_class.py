"""What a kernel does, decided once from its demangled name, whatever its case."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from nsysan.model.kernels import Collective, KernelClass
from nsysan.model.partition import Activity


class KernelKind(msgspec.Struct, frozen=True):
    """A kernel's class, the collective it runs if it communicates, and whose implementation that is."""

    kernel_class: KernelClass
    collective: Collective | None = None
    backend: str | None = None

    @property
    def activity(self) -> Activity:
        """The kind of GPU activity this kernel is."""
        if self.kernel_class is KernelClass.COMMUNICATION:
            return Activity.COMMUNICATION
        if self.kernel_class is KernelClass.FUSED_COMMUNICATION:
            return Activity.FUSED
        return Activity.COMPUTE


def _pattern(alternatives: str) -> re.Pattern[str]:
    return re.compile(alternatives, re.IGNORECASE)


_COLLECTIVE_WORD = r"(?:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all)"

# Inductor names its compute kernels after the operators around them, collectives included.
_TRITON = _pattern(r"^triton_")

# A kernel that holds both a collective and arithmetic of the model.
_FUSED = _pattern(
    rf"{_COLLECTIVE_WORD}\w*(?:fusion|fused|norm|gemm|matmul)|(?:gemm|matmul|fused)\w*{_COLLECTIVE_WORD}"
    r"|\bag_gemm|\bgemm_(?:rs|ar)\b"
)

# Whose kernels communicate, matched at a name's start or as a namespace, so that a compute kernel that only mentions
# a collective stays compute.
_COMMUNICATION = (
    ("nccl", _pattern(r"^(?:\w+::)*(?:nccl|rccl|msccl(?!pp))")),
    ("nvshmem", _pattern(r"nvshmem")),
    ("deep_ep", _pattern(r"(?:^|\b|\d)(?:deep_ep|hybrid_ep)(?:::|\d)")),
    ("userbuffers", _pattern(r"\bk?userbuffers_")),
    (
        "symmetric_memory",
        _pattern(r"\bsymmetric_memory::|\b(?:multimem_|(?:multimem_)?(?:one|two)_shot_)" + _COLLECTIVE_WORD),
    ),
    (
        "custom",
        _pattern(
            r"\bcross_device_reduce|(?:one|two)_?shot_?all_?reduce|\bquick_?reduce::|\bmscclpp|\btensorrt_llm::.*"
            + _COLLECTIVE_WORD
        ),
    ),
)

# Plans the exchange, but moves nothing itself.
_LAYOUT = _pattern(r"::(?:layout::|get_dispatch_layout)")

_COLLECTIVES = (
    (Collective.ALL_REDUCE, _pattern(r"all_?reduce|cross_device_reduce|quick_?reduce")),
    (Collective.ALL_GATHER, _pattern(r"all_?gather")),
    (Collective.REDUCE_SCATTER, _pattern(r"reduce_?scatter")),
    (Collective.ALL_TO_ALL, _pattern(r"all_?to_?all|::(?:dispatch|combine)\b")),
    (Collective.SEND_RECV, _pattern(r"send_?recv|_(?:send|recv)\b")),
    (Collective.BROADCAST, _pattern(r"broadcast")),
    (Collective.BARRIER, _pattern(r"barrier|notify")),
    (Collective.REDUCE, _pattern(r"kernel_reduce_")),
    (Collective.GATHER, _pattern(r"kernel_gather_")),
    (Collective.SCATTER, _pattern(r"kernel_scatter_")),
)

_COMPUTE = (
    (KernelClass.OPTIMIZER, _pattern(r"multi_tensor_apply|adam|adagrad|\blamb_|_lamb\b")),
    (KernelClass.ATTENTION, _pattern(r"flash(?:_|::|attn|infer)|fmha|\bmha_|attention|sdpa|_attn_|splitkv")),
    (KernelClass.CONVOLUTION, _pattern(r"convol|conv\d|conv_|_conv\b|implicit|winograd|fprop|dgrad|wgrad")),
    (KernelClass.GEMM, _pattern(r"gemm|gemv|nvjet|cutlass|xmma|matmul|cublas|split_?k_?reduce|dot_kernel")),
    (KernelClass.EMBEDDING, _pattern(r"embedding|vectorized_gather|index_?select|sum_and_scatter")),
    (KernelClass.NORMALIZATION, _pattern(r"norm(?!al)|softmax|gamma_?beta")),
    (KernelClass.MEMSET, _pattern(r"memset")),
    (KernelClass.COPY, _pattern(r"catarray|memcpy|transpose|permute|copy_kernel|copydevice")),
    (KernelClass.REDUCTION, _pattern(r"reduc|arg_?(?:max|min)|scan|cumsum|histogram")),
    (
        KernelClass.ELEMENTWISE,
        _pattern(r"element_?wise|point_?wise|(?:ge|re|si)lu|swiglu|dropout|rotary|rope|distribution"),
    ),
)

_LONGEST_NAME = 100_000
"""Characters that are looked at: the longest names of templates have tens of thousands."""


@lru_cache(maxsize=65536)
def classify(name: str) -> KernelKind:
    """What the kernel of this (demangled, else mangled or short) name does; names of no known family are ``other``."""
    name = name[:_LONGEST_NAME]
    function = function_name(name)
    if _TRITON.search(function):
        return KernelKind(KernelClass.TRITON)
    if _FUSED.search(function):
        return KernelKind(KernelClass.FUSED_COMMUNICATION, _collective(function))
    for backend, pattern in _COMMUNICATION:
        if pattern.search(function) and not _LAYOUT.search(function):
            return KernelKind(KernelClass.COMMUNICATION, _collective(function), backend)
    # CUTLASS kernels are one function whose template arguments say what it computes
    described = name if function.startswith("cutlass") else function
    matches = (kernel_class for kernel_class, pattern in _COMPUTE if pattern.search(described))
    return KernelKind(next(matches, KernelClass.OTHER))


_UNNAMED = re.compile(r"(?:\(anonymous namespace\)|<unnamed>)(?:::)?")
"""Namespaces without a name, with what parts them from the next name."""


def function_name(name: str) -> str:
    """The qualified function name alone: no return type, template arguments or parameters.

    ``void ns::f<int, g<2>>(float*)`` gives ``ns::f``. A mangled name, and one in which no function is named, is given
    back whole, but for endless ones.
    """
    outside: list[str] = []
    brackets: list[str] = []
    for character in _UNNAMED.sub("", name[:_LONGEST_NAME]):
        if character == "(" and not brackets:
            break
        if character in "<(":
            brackets.append(character)
        elif character == ">" and brackets[-1:] == ["<"]:
            brackets.pop()
        elif character == ")":
            # a comparison inside the parentheses has left its sign open
            while brackets and brackets.pop() != "(":
                pass
        elif not brackets:
            outside.append(character)
    found = "".join(outside).strip().rpartition(" ")[2]
    return found if found[:1].isidentifier() else name[:_LONGEST_NAME]


def _collective(function: str) -> Collective:
    matches = (collective for collective, pattern in _COLLECTIVES if pattern.search(function))
    return next(matches, Collective.UNKNOWN)
