"""Which lines of Claude Code tell anything: at a glance where that is sure, else from the line itself."""

from __future__ import annotations

import re

from core.agents.advice import ADVICE_BYTES, is_advice
from core.agents.claude_code.lines import ClaudeLine, Queued, read_part
from core.agents.claude_code.subagents import is_agent_progress
from core.agents.claude_code.texts import block_text

_PASSED_OVER = frozenset(
    (
        b"file-history-snapshot",
        b"file-history-delta",
        b"summary",
        b"last-prompt",
        b"mode",
        b"permission-mode",
        b"ai-title",
        b"custom-title",
        b"agent-name",
        b"tag",
        b"pr-link",
    )
)
_ASIDES = frozenset(kind.decode() for kind in _PASSED_OVER)
_SIGNS = {b"progress": b"agent_progress", b"queue-operation": b"<task-notification>"}
"""What the other lines that are passed over hold where they matter after all."""
_TYPE = b'"type":"'
_MESSAGE = b'"message":'
_PROGRESS = _TYPE + b'progress","data":'
_BEFORE = len(_PROGRESS)
_DATA = b'{"type":"'
_AGENTS = _DATA + b"agent_progress"
_ATTACHMENT = _TYPE + b'attachment"'
_glued = re.compile(rb'\}[\0 \t\r]*\{[\0 \t\r]*"').search
"""How a line goes on that may hold another object behind the first; no text holds it but at its end."""


def passes(record: bytes) -> bool:
    """Whether a line's beginning shows that nothing in it matters; anything doubtful is decoded.

    Only a quicker way to what `matters` says of the decoded line, for lines as Claude Code writes them.
    """
    inside = record.find(b"{", 1, 1000)
    if inside > _BEFORE:
        named = record[inside - _BEFORE : inside]
        if named.endswith(_MESSAGE):
            return False
        if named == _PROGRESS:
            told = record[inside : inside + 72]
            if told.startswith(_DATA):
                return not told.startswith(_AGENTS) and b"\\" not in told and not _glued(record)
    at = record.find(_TYPE, 1, inside if inside > 0 else 1000)
    if at == 1:
        kind = record[9 : record.find(b'"', 9, 64)]
        if kind in _PASSED_OVER:
            return not _glued(record)
        sign = _SIGNS.get(kind)
        return sign is not None and sign not in record and b"\\u" not in record and not _glued(record)
    if at < 0 or not record.startswith(_ATTACHMENT, at):
        return False
    telling = b"queued_command" in record or ADVICE_BYTES in record or b"\\u" in record
    return not telling and not _glued(record)


def matters(line: ClaudeLine) -> bool:
    """Whether a line tells anything; one that does not leaves no trace, not even its time."""
    kind = line.type
    if kind == "progress":
        return is_agent_progress(line)
    if kind == "queue-operation":
        return "<task-notification>" in block_text(line.content)
    if kind == "attachment":
        queued = read_part(line.attachment, Queued)
        return isinstance(queued, Queued) and (queued.type == "queued_command" or bool(told_by_us(queued)))
    return kind not in _ASIDES


def told_by_us(part: Queued) -> str:
    """The sentence of ours that a hook handed to the agent; blank where it is none."""
    if part.type != "hook_additional_context":
        return ""
    texts = [part.content] if isinstance(part.content, str) else part.content or []
    return next((text for text in texts if is_advice(text)), "")
