"""Which line of a Qwen Code chat follows which."""

from __future__ import annotations

from core.logs.envelope import Envelope, RecordMessage, as_text
from core.logs.links import Link, LinkKind, LinkReader, Rank
from core.logs.records import Record

_KINDS: dict[str, tuple[LinkKind, Rank]] = {
    "user": ("prompt", "main"),
    "assistant": ("answer", "main"),
    "tool_result": ("result", "beside"),
    "system": ("system", "beside"),
}
_SUBTYPES: dict[str, tuple[LinkKind, Rank]] = {
    "chat_compression": ("compaction", "main"),
    "rewind": ("rewind", "main"),
    "notification": ("system", "beside"),
    "cron": ("system", "beside"),
}


class QwenLinks(LinkReader):
    """Lines name their parents; a rewind begins another branch under an older one."""

    def follow(self, told: Envelope, record: Record) -> Link:
        """The link of one line."""
        name = as_text(told.uuid)
        if not name:
            return self.aside(record, "entry")
        kind, rank = _SUBTYPES.get(as_text(told.subtype)) or _KINDS.get(
            as_text(told.type), ("entry", "aside")
        )
        parent = as_text(told.parent_uuid) or None
        return self.link(record, name, parent, kind, rank, RecordMessage.read(told.message))
