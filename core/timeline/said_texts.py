"""What methods said, as a recording keeps it."""

from __future__ import annotations

from typing import NamedTuple

from core.timeline.packed_list import PackedList


class SaidText(NamedTuple):
    """What a method said with one event."""

    place: int
    method: str
    text: str


class SaidTexts(PackedList[SaidText], kind=SaidText, chunk=128, fresh=2, looked_at=2):
    """Texts in the order they were said."""

    __slots__ = ()
