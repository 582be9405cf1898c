"""What every format's records have around their content: who, when, after which."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Raw, Struct

from core.logs.times import seconds

FAULTS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""What decoding raises on what a log may hold."""
NOTHING = Raw(b"null")
"""A field that is not there."""
_LONGEST = 256
"""Characters beyond which a text is not an id."""
_MOST = 1 << 53

Role = Literal[
    "session",
    "user",
    "assistant",
    "tool",
    "system",
    "compaction",
    "summary",
    "setting",
    "label",
    "",
]


class Envelope(Struct, rename="camel", gc=False):
    """Fields of any format's record, undecoded, so that no value can make the record unreadable."""

    type: Raw = NOTHING
    subtype: Raw = NOTHING
    role: Raw = NOTHING
    id: Raw = NOTHING
    parent_id: Raw = NOTHING
    target_id: Raw = NOTHING
    uuid: Raw = NOTHING
    parent_uuid: Raw = NOTHING
    logical_parent_uuid: Raw = NOTHING
    leaf_uuid: Raw = NOTHING
    session_id: Raw = NOTHING
    timestamp: Raw = NOTHING
    at: Raw = NOTHING
    start_time: Raw = NOTHING
    is_sidechain: Raw = NOTHING
    is_meta: Raw = NOTHING
    is_compact_summary: Raw = NOTHING
    summary: Raw = NOTHING
    label: Raw = NOTHING
    message: Raw = NOTHING
    payload: Raw = NOTHING
    model: Raw = NOTHING
    usage: Raw = NOTHING
    tokens: Raw = NOTHING
    rewind_to: Raw = msgspec.field(name="$rewindTo", default=NOTHING)
    set: Raw = msgspec.field(name="$set", default=NOTHING)


class _Usage(Struct, gc=False):
    output_tokens: Raw = NOTHING
    output: Raw = NOTHING
    completion_tokens: Raw = NOTHING


class _Part(Struct, gc=False):
    type: Raw = NOTHING


class RecordMessage(Struct, gc=False):
    """What is said in a record, as far as its place in the conversation depends on it."""

    type: Raw = NOTHING
    role: Raw = NOTHING
    model: Raw = NOTHING
    usage: Raw = NOTHING
    tokens: Raw = NOTHING
    content: Raw = NOTHING

    @classmethod
    def read(cls, raw: Raw) -> RecordMessage:
        """The message in a field; an empty one where there is none."""
        if raw is NOTHING:
            return _SILENT
        try:
            return _message(raw)
        except FAULTS:
            return _SILENT

    @property
    def model_name(self) -> str:
        """The model that spoke."""
        return as_text(self.model)

    @property
    def written(self) -> int:
        """Tokens the model wrote; 0 where that is not told."""
        for held in (self.usage, self.tokens):
            if held is NOTHING:
                continue
            try:
                usage = _usage(held)
            except FAULTS:
                continue
            for raw in (usage.output_tokens, usage.output, usage.completion_tokens):
                count = as_count(raw)
                if count:
                    return count
        return 0

    @property
    def has_results(self) -> bool:
        """Whether it brings results of tools."""
        if _first(self.content) != b"[":
            return False
        try:
            parts = msgspec.json.decode(self.content, type=list[_Part])
        except FAULTS:
            return False
        return any(bytes(part.type) == b'"tool_result"' for part in parts)


_SILENT = RecordMessage()
_message = msgspec.json.Decoder(RecordMessage).decode
_usage = msgspec.json.Decoder(_Usage).decode
_text = msgspec.json.Decoder(str).decode
_value = msgspec.json.Decoder().decode
read_envelope = msgspec.json.Decoder(Envelope).decode
"""The envelope of a record's bytes; raises what `FAULTS` names."""


def as_text(raw: Raw, longest: int = _LONGEST) -> str:
    """A text that is not blank and not too long, else nothing."""
    if raw is NOTHING or _first(raw) != b'"' or len(memoryview(raw)) > longest * 6 + 2:
        return ""
    try:
        text = _text(raw)
    except FAULTS:
        return ""
    return text if len(text) <= longest else ""


def as_count(raw: Raw) -> int:
    """A whole number of things, or 0."""
    if raw is NOTHING:
        return 0
    try:
        value = _value(raw)
    except FAULTS:
        return 0
    return int(value) if type(value) in (int, float) and 0 < value < _MOST else 0


def as_time(told: Envelope, before: float) -> float:
    """When a record says it was written; else the moment before."""
    for raw in (told.timestamp, told.at, told.start_time):
        if raw is NOTHING:
            continue
        try:
            at = seconds(_value(raw))
        except FAULTS:
            continue
        if at is not None:
            return at
    return before


def is_true(raw: Raw) -> bool:
    """Whether a field says true."""
    return raw is not NOTHING and bytes(memoryview(raw)[:5]) == b"true"


def opened_as(told: Envelope) -> tuple[Role, RecordMessage]:
    """Who speaks in a record, and what is said of it; formats without roles are told by their types."""
    for held in (told.message, told.payload):
        if _first(held) == b"{":
            message = RecordMessage.read(held)
            role = _ROLES.get(as_text(message.role)) or _ROLES.get(as_text(message.type), "")
            return role or _ROLES.get(as_text(told.type), ""), message
    message = RecordMessage(told.type, told.role, told.model, told.usage, told.tokens)
    return _ROLES.get(as_text(told.role)) or _ROLES.get(as_text(told.type), ""), message


def _first(raw: Raw) -> bytes:
    return bytes(memoryview(raw)[:1])


_ROLES: dict[str, Role] = {
    "session": "session",
    "session_meta": "session",
    "session.start": "session",
    "user": "user",
    "user.message": "user",
    "assistant": "assistant",
    "assistant.message": "assistant",
    "gemini": "assistant",
    "tool": "tool",
    "toolResult": "tool",
    "function_call_output": "tool",
    "custom_tool_call_output": "tool",
    "tool.execution_complete": "tool",
    "system": "system",
    "developer": "system",
    "info": "system",
    "compaction": "compaction",
    "compacted": "compaction",
    "session.compaction_complete": "compaction",
    "branch_summary": "summary",
    "model_change": "setting",
    "thinking_level_change": "setting",
    "session_info": "setting",
    "session.model_change": "setting",
    "turn_context": "setting",
    "label": "label",
}
