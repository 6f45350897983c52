"""The definitions of what is said of collectives, in the order they are listed."""

from __future__ import annotations

from nsysan.report.elements import Term

COLLECTIVE_TERMS = (
    Term(
        "collective_wait",
        "Waiting in a collective",
        "From the begin of a rank's operation to the begin of its transfer: it waits for ranks that come later. Sums "
        "are over ranks.",
    ),
    Term(
        "transfer",
        "Transfer",
        "What of a collective is no waiting: the shortest duration over its ranks; of a broadcast or scatter from the "
        "later of a rank's own and the root's arrival, of a reduce or gather on the root from the last arrival. "
        "Counted once an instance; it still holds contention.",
    ),
    Term(
        "collective_size",
        "Size of a collective",
        "S of nccl-tests: the whole array, not one rank's part; of a message, the message.",
    ),
    Term(
        "collective_duration",
        "Duration over all ranks",
        "The durations of the operation on each rank, added up: waiting and transfer.",
    ),
    Term("algbw", "algbw", "Size over transfer. GB is 1,000,000,000 bytes."),
    Term(
        "busbw",
        "busbw",
        "algbw times the factor of nccl-tests, to be compared with a link: 2(n-1)/n for an all-reduce, (n-1)/n for "
        "all-gather, reduce-scatter, all-to-all, gather and scatter, 1 for broadcast, reduce and messages.",
    ),
    Term(
        "collective_ceiling",
        "Ceiling of a collective",
        "The bus bandwidth that a collective of the kind reached elsewhere at this size, with as many ranks and hosts. "
        "A transfer beside computing is contended: what it falls short of the ceiling is then no slow link.",
    ),
    Term(
        "pipeline_bubble",
        "Pipeline bubble",
        "Exposed waits of a rank for ranks of other stages of its pipeline, in messages and collectives, in its steady "
        "steps; as a share of these, mean over ranks.",
    ),
    Term(
        "pipeline_parts",
        "Parts a step",
        "How often a stage sends to the next in a step: microbatches, times the pieces of the model that a rank has.",
    ),
    Term(
        "ideal_bubble",
        "Bubble of the schedule",
        "(p - 1) / (m + p - 1) for p stages and m parts a step: the waits that remain where all stages take equally "
        "long and messages take no time.",
    ),
    Term(
        "contended",
        "Contended",
        "The share of the transfer that ran beside computing: both then share the GPU, so a low bandwidth is no slow "
        "link.",
    ),
    Term(
        "came_last",
        "Came last",
        "Collectives to which this rank came last, by over 20 µs, of those of its communicators to which any rank was "
        "late.",
    ),
    Term("lateness", "How late", "How long after the others the last rank came, at the median."),
)
