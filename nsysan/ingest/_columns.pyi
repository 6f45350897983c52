from collections.abc import Callable, Sequence
from enum import Enum

from nsysan.model.arrays import IdArray, Int64Array

class HandOverError(Exception): ...

class Layout:
    def __init__(self, *, root_page: int, has_default: Sequence[bool], row_number: int | None) -> None: ...

class Form(Enum):
    NARROW = ...
    WIDE = ...
    CODED = ...

class Column:
    def __init__(
        self,
        *,
        sources: Sequence[int],
        is_needed: bool,
        accepts_null: bool,
        text: int | None,
        form: Form = ...,
    ) -> None: ...

class Scope:
    def __init__(self, *, position: int, values: Sequence[int]) -> None: ...

class Scan:
    def __init__(
        self,
        path: bytes,
        *,
        layout: Layout,
        columns: Sequence[Column],
        scope: Scope | None,
        id_of_text: Callable[[bytes], int],
    ) -> None: ...
    def read(self, row_count: int) -> list[Int64Array] | None: ...
    def keep(self, row_count: int) -> int | None: ...
    def kept(self) -> list[tuple[IdArray, Int64Array | None]]: ...
    @property
    def is_used(self) -> list[bool]: ...
    @property
    def unreadable_count(self) -> int: ...
