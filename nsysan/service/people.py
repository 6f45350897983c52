"""Who asks, and what they may do."""

from __future__ import annotations

from enum import Enum

import msgspec


class Role(Enum):
    """What a token allows: to read what the team has; to upload, share and delete as well; to see every team."""

    READER = "reader"
    UPLOADER = "uploader"
    ADMIN = "admin"


class Person(msgspec.Struct, frozen=True):
    """Who asks: by which token, of which team, with which rights."""

    name: str
    team: str
    role: Role

    @property
    def may_upload(self) -> bool:
        """Whether they may add, change and delete."""
        return self.role is not Role.READER

    @property
    def sees_every_team(self) -> bool:
        """Whether they see what other teams have."""
        return self.role is Role.ADMIN

    def sees(self, team: str) -> bool:
        """Whether they may know of what this team has."""
        return self.sees_every_team or self.team == team


LOCAL = Person("local", "local", Role.ADMIN)
"""Whoever reaches a server that only this machine can reach, and that asks for no tokens."""
