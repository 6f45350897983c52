"""Which process of how many this is, as its launcher says, and how they tell each other something.

torchrun, srun and mpirun say it in variables of their own. The processes meet at the first one, over TCP: each sends
what it has, and gets what all have. Texts are JSON of bounded size; nothing that arrives is ever run.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nsysan.model.errors import MissingToolError, UsageError

PORT_VARIABLE = "NSYSAN_PORT"
_PORT = 29411
_MOST_BYTES = 16 << 20
_PATIENCE_S = 120.0
_BETWEEN_TRIES_S = 0.1
_LAUNCHERS = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
)
"""The variables of torchrun, Open MPI, MPICH and its kin, and srun: rank, how many there are, rank on its node."""


@dataclass(frozen=True, slots=True)
class Place:
    """This process among all; ``host`` and ``port`` are where they meet."""

    rank: int
    count: int
    local_rank: int
    host: str
    port: int


class Ranks:
    """One process alone."""

    rank = 0
    count = 1
    local_rank = 0

    @property
    def is_alone(self) -> bool:
        """Whether one process drives all GPUs."""
        return self.count == 1

    def share(self, value: Any) -> list[Any]:
        """What each process has given, in order of rank; all must call it."""
        return [value]

    def close(self) -> None:
        """Part from the others."""


ONE_PROCESS = Ranks()


def place_of(environment: Mapping[str, str]) -> Place | None:
    """Where a launcher has put this process; None where it is alone.

    Raises UsageError where the variables contradict each other.
    """
    for rank_name, count_name, local_name in _LAUNCHERS:
        if rank_name in environment and count_name in environment:
            rank, count = _number(environment, rank_name), _number(environment, count_name)
            if count == 1:
                return None
            if not rank < count:
                raise UsageError(
                    f"{rank_name} is {rank} and {count_name} is {count}.", "Start it with torchrun or srun."
                )
            local = _number(environment, local_name) if local_name in environment else rank
            port = _number(environment, PORT_VARIABLE) if PORT_VARIABLE in environment else _PORT
            return Place(rank, count, local, _meeting_host(environment), port)
    return None


def meet(place: Place, patience_s: float = _PATIENCE_S) -> Ranks:
    """The processes, all of which have arrived. Raises MissingToolError where some do not in time."""
    try:
        return _First(place, patience_s) if place.rank == 0 else _Other(place, patience_s)
    except OSError as error:
        raise MissingToolError(
            f"Rank {place.rank} of {place.count} could not meet the others at {place.host}:{place.port}: {error}.",
            f"All ranks must be started at once; {PORT_VARIABLE} names another port, MASTER_ADDR another host.",
        ) from error


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


class _First(Ranks):
    """The process that all others tell."""

    def __init__(self, place: Place, patience_s: float) -> None:
        self.count, self.local_rank = place.count, place.local_rank
        self._others: dict[int, _Connection] = {}
        end_s = time.monotonic() + patience_s
        with socket.create_server(("", place.port), backlog=place.count) as server:
            while len(self._others) < place.count - 1:
                server.settimeout(max(end_s - time.monotonic(), 0.01))
                self._admit(server.accept()[0], patience_s)

    def share(self, value: Any) -> list[Any]:
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


class _Other(Ranks):
    """A process that tells the first one."""

    def __init__(self, place: Place, patience_s: float) -> None:
        self.rank, self.count, self.local_rank = place.rank, place.count, place.local_rank
        self._first = _Connection(_connected(place, patience_s))
        self._first.send({"rank": self.rank, "count": self.count})

    def share(self, value: Any) -> list[Any]:
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


def _meeting_host(environment: Mapping[str, str]) -> str:
    """The host of the first rank: as torchrun says it, else the first of SLURM's nodes, else this one."""
    named = environment.get("MASTER_ADDR") or environment.get("SLURM_LAUNCH_NODE_IPADDR")
    return named or "127.0.0.1"


def _number(environment: Mapping[str, str], name: str) -> int:
    text = environment[name]
    if not text.isdecimal():
        raise UsageError(f"{name} is {text!r}, which is no number.", "Start it with torchrun, srun or mpirun.")
    return int(text)
