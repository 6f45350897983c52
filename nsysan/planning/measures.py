"""What a measure against communication across nodes wins of a step, by arithmetic alone."""

from __future__ import annotations

import msgspec


class Group(msgspec.Struct, frozen=True):
    """Ranks that reduce gradients with each other over several nodes."""

    rank_count: int
    node_count: int


def reduced_once_frac(part_count: int) -> float:
    """What is left of the transfers where gradients are reduced after the last of ``part_count`` parts, not each."""
    return 1 / part_count


def shared_inside_nodes_frac(group: Group) -> float:
    """What is left of the bytes over a link between nodes where the ranks of each node share the model.

    A ring over all n ranks moves 2 N (n - 1) / n over the link; rings over the m nodes, one for each share of the
    model, move 2 N (m - 1) / m together. What ranks of a node then tell each other is not counted.
    """
    ranks, nodes = group.rank_count, group.node_count
    return ((nodes - 1) / nodes) / ((ranks - 1) / ranks)
