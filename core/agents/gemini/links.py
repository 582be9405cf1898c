"""Which message of a Gemini chat follows which."""

from __future__ import annotations

from core.logs.envelope import NOTHING, Envelope, as_text
from core.logs.links import Link, LinkReader, turn
from core.logs.records import Log, Record

_REMEMBERED = 65_536
"""Messages a rewind can lead back to."""


class GeminiLinks(LinkReader):
    """Messages in a row, some written again, and rewinds that lead back before a message."""

    def __init__(self, log: Log) -> None:
        super().__init__(log)
        self._before: dict[str, str | None] = {}
        self._head: str | None = None

    def follow(self, told: Envelope, record: Record) -> Link:
        """The link of one update."""
        name = as_text(told.id)
        kind, message = turn(told)
        if name and name in self._before:
            return self.link(record, self.name(record), name, "update", "aside", message)
        parent = self._head
        if told.rewind_to is not NOTHING:
            parent = self._before.get(as_text(told.rewind_to), self._head)
            kind, name = "rewind", ""
        elif told.set is not NOTHING:
            return self.link(record, self.name(record), parent, "update", "aside")
        elif kind == "entry" and as_text(told.session_id):
            kind = "start"
        found = self.link(record, name or self.name(record), parent, kind, "main", message)
        if name:
            if len(self._before) >= _REMEMBERED:
                del self._before[next(iter(self._before))]
            self._before[name] = parent
        self._head = found.id
        return found
