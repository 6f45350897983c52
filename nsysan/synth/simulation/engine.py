"""The simulation of a job: one host thread and one GPU a rank, until every program has ended."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.simulation.host import Host, Machine
from nsysan.synth.simulation.program import Action
from nsysan.synth.simulation.streams import Gpus
from nsysan.synth.simulation.timelines import CollectiveRun, Simulation


def simulate(programs: Sequence[Sequence[Action]], machine: Machine | None = None) -> Simulation:
    """Run ``programs``, one a rank, all from time 0.

    Kernels that run together on a GPU do not slow each other down. Raises ValueError where the ranks wait for each
    other for ever, such as at a collective that one of them never reaches.
    """
    machine = machine or Machine()
    gpus = Gpus(machine.handover_ns)
    hosts = [Host(rank, program, gpus, machine) for rank, program in enumerate(programs)]
    _run_all(hosts)
    collectives = sorted(gpus.collectives, key=_order)
    return Simulation(tuple(host.timeline() for host in hosts), tuple(collectives))


def _run_all(hosts: Sequence[Host]) -> None:
    lives = {host: host.run() for host in hosts}
    while lives:
        before = sum(host.progress for host in hosts)
        ended = [host for host, life in lives.items() if next(life, _ENDED) is _ENDED]
        for host in ended:
            del lives[host]
        if lives and not ended and sum(host.progress for host in hosts) == before:
            raise ValueError(f"{len(lives)} of {len(hosts)} ranks wait for each other for ever")


def _order(run: CollectiveRun) -> tuple[int, str, Communicator]:
    return run.end_ns, run.rendezvous.key, run.rendezvous.communicator


_ENDED = object()
