"""Which entry of a pi session follows which."""

from __future__ import annotations

from core.logs.envelope import NOTHING, Envelope, as_text
from core.logs.event_redaction import one_line
from core.logs.links import LONGEST_LABEL, Link, LinkReader, turn
from core.logs.records import Log, Record


class PiLinks(LinkReader):
    """Entries form a tree under the header; those of the first version have no ids."""

    def __init__(self, log: Log) -> None:
        super().__init__(log)
        self._header: str | None = None

    def follow(self, told: Envelope, record: Record) -> Link:
        """The link of one entry."""
        kind, message = turn(told)
        name = as_text(told.id)
        if kind == "start":
            found = self.link(record, name or self.name(record), None, kind, "main", message)
            self._header = found.id
            return found
        if not name or told.parent_id is NOTHING:
            return self.link(record, name or self.name(record), self.last, kind, "main", message)
        parent = as_text(told.parent_id) or self._header
        found = self.link(record, name, parent, kind, "main", message)
        target = as_text(told.target_id) if kind == "label" else ""
        return found._replace(
            label=one_line(as_text(told.label, LONGEST_LABEL * 8), LONGEST_LABEL), labels=target
        )
