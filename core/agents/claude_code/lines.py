"""The lines of a Claude Code log, as far as they matter here."""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from core.agents.lenient import salvage
from core.logs.links import FAULTS

_NOTHING = Raw(b"null")
_LARGEST = 1 << 53
"""No number of tokens is this large."""


class CacheWrites(Struct, gc=False):
    """How much was written to the cache that is kept for an hour."""

    ephemeral_1h_input_tokens: int | None = 0


class Tokens(Struct, gc=False):
    """A message's usage."""

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    cache_creation: CacheWrites | None = None


class ResultPart(Struct, gc=False):
    """A part of a tool's result."""

    type: str = ""
    text: str | None = None
    source: Raw = _NOTHING


class Block(Struct, gc=False):
    """A part of a message."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    input: Raw = _NOTHING
    tool_use_id: str | None = None
    is_error: bool | None = None
    content: str | list[ResultPart] | None = None
    text: Raw = _NOTHING


class Message(Struct, gc=False):
    """What a person, a tool or the model says."""

    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    usage: Tokens | None = None
    stop_reason: str | None = None


class Boundary(Struct, rename="camel", gc=False):
    """What is said of a compaction."""

    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None


class ClaudeLine(Struct, rename="camel", gc=False):
    """One line's envelope."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    timestamp: str | int | float | None = None
    session_id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_api_error_message: bool | None = None
    message: Message | None = None
    tool_use_result: Raw = _NOTHING
    compact_metadata: Boundary | None = None
    attachment: Raw = _NOTHING
    content: Raw = _NOTHING
    data: Raw = _NOTHING
    parent_tool_use_id: str | None = msgspec.field(name="parentToolUseID", default=None)


class ToolDetails(Struct, rename="camel", gc=False):
    """What a tool told beside its result's text."""

    agent_id: str | None = None
    status: str | None = None
    is_async: bool | None = None
    total_tokens: int | None = None
    total_tool_use_count: int | None = None
    total_duration_ms: float | None = None
    duration_ms: float | None = None
    num_files: int | None = None
    num_matches: int | None = None
    mode: str | None = None
    interrupted: bool | None = None
    task: Raw = _NOTHING


class BackgroundTask(Struct, rename="camel", gc=False):
    """A background task as TaskOutput shows it."""

    task_id: str | None = msgspec.field(name="task_id", default=None)
    status: str | None = None
    exit_code: int | None = None


class Queued(Struct, gc=False):
    """A prompt that waited for the agent, or what a hook told it."""

    type: str = ""
    prompt: str | list[ResultPart] | None = None
    content: list[str] | str | None = None
    commandMode: str | None = None  # noqa: N815


decode_line = msgspec.json.Decoder(ClaudeLine).decode
"""A line as it should be; raises one of `FAULTS` for any other."""


def salvage_line(record: bytes) -> tuple[ClaudeLine | None, str]:
    """What can be read of a line that could not be decoded, and what is wrong with it."""
    try:
        decode_line(record)
    except msgspec.ValidationError:
        line = salvage(record, ClaudeLine)
        return line, "field of a wrong type" if line else "not an object"
    except FAULTS:
        pass
    return None, "not JSON"


def read_part(
    raw: Raw, kind: type[ToolDetails] | type[BackgroundTask] | type[Queued]
) -> ToolDetails | BackgroundTask | Queued | None:
    """A part that was left undecoded, or None where it is something else."""
    if bytes(memoryview(raw)[:1]) != b"{":
        return None
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError:
        return salvage(bytes(raw), kind)
    except FAULTS:
        return None


def token_count(value: int | None) -> int:
    """A number of tokens; 0 where a line tells none, or one that cannot be."""
    return value if value is not None and 0 < value < _LARGEST else 0
