"""Columns under the name by which the tuning bench knows them."""

from __future__ import annotations

from core.timeline.columns import Columns


class SharedColumns(Columns):
    """The same rows once more; columns may be drawn from any thread as they are."""

    __slots__ = ()

    def __init__(self, columns: Columns) -> None:
        for name in Columns.__slots__:
            setattr(self, name, getattr(columns, name))
