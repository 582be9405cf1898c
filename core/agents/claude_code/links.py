"""Which line of a Claude Code log follows which."""

from __future__ import annotations

from core.logs.envelope import Envelope, RecordMessage, as_text, is_true
from core.logs.event_redaction import one_line
from core.logs.links import LONGEST_LABEL, Link, LinkKind, LinkReader, Rank
from core.logs.records import Record


class ClaudeCodeLinks(LinkReader):
    """Lines name their parents; a compaction its logical one; bookkeeping has no id."""

    def follow(self, told: Envelope, record: Record) -> Link:
        """The link of one line."""
        name = as_text(told.uuid)
        if not name:
            found = self.aside(record, "label" if as_text(told.leaf_uuid) else "entry")
            words = as_text(told.summary, LONGEST_LABEL * 8)
            return (
                found._replace(label=one_line(words, LONGEST_LABEL), labels=as_text(told.leaf_uuid))
                if words
                else found
            )
        parent = as_text(told.parent_uuid) or as_text(told.logical_parent_uuid) or None
        message = RecordMessage.read(told.message)
        kind, rank = self._kind(told, message)
        return self.link(record, name, parent, kind, rank, message, is_true(told.is_sidechain))

    def _kind(self, told: Envelope, message: RecordMessage) -> tuple[LinkKind, Rank]:
        match as_text(told.type):
            case "assistant":
                return "answer", "main"
            case "user":
                if message.has_results:
                    return "result", "beside"
                if is_true(told.is_compact_summary):
                    return "summary", "main"
                return ("system", "beside") if is_true(told.is_meta) else ("prompt", "main")
            case "system":
                compacted = as_text(told.subtype) == "compact_boundary"
                return ("compaction", "main") if compacted else ("system", "beside")
            case "progress":
                return "progress", "aside"
            case "attachment":
                return "system", "beside"
        return "entry", "aside"
