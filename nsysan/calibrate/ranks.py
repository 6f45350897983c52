"""Which process of how many this is, as its launcher says, and how they tell each other something.

torchrun, srun and mpirun say it in variables of their own. The processes meet at the first one, over TCP: each sends
what it has, and gets what all have. Texts are JSON of bounded size; nothing that arrives is ever run.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from nsysan.model.errors import MissingToolError, UsageError

PORT_VARIABLE = "NSYSAN_PORT"
_PORT = 29411
_MOST_BYTES = 16 << 20
_PATIENCE_S = 120.0
_BETWEEN_TRIES_S = 0.1
_LAUNCHERS = (
    ("RANK", "WORLD_SIZE", ("LOCAL_RANK",)),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", ("OMPI_COMM_WORLD_LOCAL_RANK",)),
    ("PMI_RANK", "PMI_SIZE", ("MPI_LOCALRANKID", "SLURM_LOCALID")),
    ("SLURM_PROCID", "SLURM_NTASKS", ("SLURM_LOCALID",)),
)
"""The variables of torchrun, Open MPI, MPICH and its kin, and srun: rank, how many there are, rank on its node."""
_NODE_LISTS = ("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Place(msgspec.Struct, frozen=True):
    """This process among all; ``host`` and ``port`` are where they meet. ``local_rank`` is None where nobody tells."""

    rank: int
    count: int
    local_rank: int | None
    host: str
    port: int


class Ranks:
    """One process alone. ``node_count`` is on how many machines all are, ``neighbours`` are the ranks on this one."""

    rank = 0
    count = 1
    local_rank = 0
    node_count = 1
    neighbours: tuple[int, ...] = (0,)

    @property
    def is_alone(self) -> bool:
        """Whether one process drives all GPUs."""
        return self.count == 1

    def share(self, value: Any) -> list[Any]:
        """What each process has given, in order of rank; all must call it.

        Raises MissingToolError where another has left; this one then has left, too.
        """
        return [value]

    def close(self) -> None:
        """Part from the others."""


ONE_PROCESS = Ranks()


def place_of(environment: Mapping[str, str]) -> Place | None:
    """Where a launcher has put this process; None where it is alone.

    Raises UsageError where the variables contradict each other.
    """
    for rank_name, count_name, local_names in _LAUNCHERS:
        if rank_name in environment and count_name in environment:
            rank, count = _number(environment, rank_name), _number(environment, count_name)
            if count == 1:
                return None
            if not rank < count:
                raise UsageError(
                    f"{rank_name} is {rank} and {count_name} is {count}.", "Start it with torchrun or srun."
                )
            local_name = next((name for name in local_names if name in environment), None)
            local = None if local_name is None else _number(environment, local_name)
            port = _number(environment, PORT_VARIABLE) if PORT_VARIABLE in environment else _PORT
            return Place(rank, count, local, _meeting_host(environment), port)
    return None


def meet(place: Place, patience_s: float = _PATIENCE_S) -> Ranks:
    """The processes, all of which have arrived. Raises MissingToolError where some do not in time."""
    try:
        met = _First(place, patience_s) if place.rank == 0 else _Other(place, patience_s)
    except OSError as error:
        raise MissingToolError(
            f"Rank {place.rank} of {place.count} could not meet the others at {place.host}:{place.port}: {error}.",
            f"All ranks must be started at once; {PORT_VARIABLE} names another port, MASTER_ADDR another host.",
        ) from error
    met.settle(place)
    return met


def local_ranks(machines: Sequence[object]) -> list[int]:
    """The rank of each process on its machine: how many before it are on the same."""
    return [list(machines[:rank]).count(machine) for rank, machine in enumerate(machines)]


def first_node(nodes: str) -> str:
    """The first host of a list as SLURM writes it: ``gpu[003-010,12],login`` begins with gpu003."""
    plain = re.sub(r"\[(\w+)[^\]]*\]", r"\1", nodes)
    return plain.partition(",")[0]


def current_ranks() -> Ranks:
    """The ranks as the environment tells them, met where there are several."""
    place = place_of(os.environ)
    return ONE_PROCESS if place is None else meet(place)


class _Connection:
    """Lines of JSON over a socket."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._lines = connected.makefile("rb")

    def send(self, value: Any) -> None:
        self._socket.sendall(json.dumps(value).encode() + b"\n")

    def receive(self) -> Any:
        line = self._lines.readline(_MOST_BYTES)
        if not line.endswith(b"\n"):
            raise ConnectionError("another rank has left")
        return json.loads(line)

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


class _Met(Ranks):
    """One of several processes."""

    def settle(self, place: Place) -> None:
        """Find out on how many machines all are, and which process of its own this is, where no launcher tells."""
        told = self.share([place.local_rank, _machine()])
        machines = [machine for _, machine in told]
        ranks = [local for local, _ in told]
        if None in ranks:
            ranks = local_ranks(machines)
        self.local_rank, self.node_count = ranks[self.rank], ranks.count(0)
        self.neighbours = tuple(rank for rank, machine in enumerate(machines) if machine == machines[self.rank])

    def share(self, value: Any) -> list[Any]:
        try:
            return self._exchanged(value)
        except (OSError, ValueError, RecursionError) as error:
            self.close()  # so that nobody waits for this one
            raise MissingToolError(
                f"Rank {self.rank} lost the others: {error}.", "What the first rank that failed says tells why."
            ) from error

    def _exchanged(self, value: Any) -> list[Any]:
        raise NotImplementedError


class _First(_Met):
    """The process that all others tell."""

    def __init__(self, place: Place, patience_s: float) -> None:
        self.count = place.count
        self._others: dict[int, _Connection] = {}
        end_s = time.monotonic() + patience_s
        with socket.create_server(("", place.port), backlog=place.count) as server:
            while len(self._others) < place.count - 1:
                server.settimeout(max(end_s - time.monotonic(), 0.01))
                self._admit(server.accept()[0], patience_s)

    def _exchanged(self, value: Any) -> list[Any]:
        values = [value, *(self._others[rank].receive() for rank in range(1, self.count))]
        for other in self._others.values():
            other.send(values)
        return values

    def close(self) -> None:
        for other in self._others.values():
            other.close()

    def _admit(self, connected: socket.socket, patience_s: float) -> None:
        """Take one that says which rank it is; whoever says nothing of use is sent away."""
        connected.settimeout(patience_s)
        connection = _Connection(connected)
        rank = self._rank_told(connection)
        if rank is None:
            connection.close()
        else:
            self._others[rank] = connection

    def _rank_told(self, connection: _Connection) -> int | None:
        try:
            told = connection.receive()
        except (ValueError, OSError, RecursionError):
            return None
        rank = told.get("rank") if isinstance(told, dict) and told.get("count") == self.count else None
        return rank if isinstance(rank, int) and 0 < rank < self.count and rank not in self._others else None


class _Other(_Met):
    """A process that tells the first one."""

    def __init__(self, place: Place, patience_s: float) -> None:
        self.rank, self.count = place.rank, place.count
        self._first = _Connection(_connected(place, patience_s))
        self._first.send({"rank": self.rank, "count": self.count})

    def _exchanged(self, value: Any) -> list[Any]:
        self._first.send(value)
        values = self._first.receive()
        if not isinstance(values, list) or len(values) != self.count:
            raise ConnectionError("the first rank told something else")
        return values

    def close(self) -> None:
        self._first.close()


def _connected(place: Place, patience_s: float) -> socket.socket:
    """A connection to the first rank, which may not be there yet."""
    end_s = time.monotonic() + patience_s
    while True:
        try:
            return socket.create_connection((place.host, place.port), timeout=patience_s)
        except OSError:
            if time.monotonic() > end_s:
                raise
        time.sleep(_BETWEEN_TRIES_S)


def _machine() -> list[str]:
    """What tells this machine, or container, from the others of the job; it goes to no file."""
    return [socket.gethostname(), _BOOT_ID.read_text() if _BOOT_ID.exists() else ""]


def _meeting_host(environment: Mapping[str, str]) -> str:
    """The host of the first rank: as torchrun says it, else the first of SLURM's nodes, else this one.

    Where srun was called (SLURM_LAUNCH_NODE_IPADDR) may be a login node, on which no rank is.
    """
    lists = (environment[name] for name in _NODE_LISTS if environment.get(name))
    return environment.get("MASTER_ADDR") or next((first_node(nodes) for nodes in lists), "127.0.0.1")


def _number(environment: Mapping[str, str], name: str) -> int:
    text = environment[name]
    if not text.isdecimal():
        raise UsageError(f"{name} is {text!r}, which is no number.", "Start it with torchrun, srun or mpirun.")
    return int(text)
