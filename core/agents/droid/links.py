"""Which message of a Droid session follows which."""

from __future__ import annotations

from core.logs.envelope import Envelope, as_text
from core.logs.links import Link, LinkReader, turn
from core.logs.records import Record


class DroidLinks(LinkReader):
    """Messages name their parents, the first one the session; what names nothing stands beside them."""

    def follow(self, told: Envelope, record: Record) -> Link:
        """The link of one line."""
        name, type_ = as_text(told.id), as_text(told.type)
        if type_ == "session_start":
            return self.link(record, name or self.name(record), None, "start", "main")
        if type_ == "compaction_state":
            return self.link(record, name or self.name(record), self.last, "compaction", "main")
        kind, message = turn(told)
        if type_ != "message" or not name:
            return self.aside(record, kind)
        return self.link(record, name, as_text(told.parent_id) or self.last, kind, "main", message)
