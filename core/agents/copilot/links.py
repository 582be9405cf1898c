"""Which event of a Copilot log follows which."""

from __future__ import annotations

from core.logs.envelope import Envelope, as_text
from core.logs.links import Link, LinkReader, turn
from core.logs.records import Record


class CopilotLinks(LinkReader):
    """Events name their parents; only what is said carries the conversation on."""

    def follow(self, told: Envelope, record: Record) -> Link:
        """The link of one event."""
        name = as_text(told.id)
        kind, message = turn(told)
        if not name:
            return self.aside(record, kind)
        said = kind in ("start", "prompt", "answer", "compaction")
        return self.link(
            record, name, as_text(told.parent_id) or None, kind, "main" if said else "beside", message
        )
