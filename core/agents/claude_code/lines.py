"""The lines of a Claude Code log, as far as they matter here."""

from __future__ import annotations

import re

import msgspec
from msgspec import Raw, Struct

from core.agents.calls import is_advice
from core.agents.tables import known_phrases, known_words
from core.agents.values import T, salvage
from core.logs.lines import FAULTS, decoded

_NOTHING = Raw(b"null")
_LARGEST = 1 << 53  # No number of tokens is this large.


class CacheWrites(Struct, gc=False):
    """How much was written to the cache that is kept for an hour."""

    ephemeral_1h_input_tokens: int | None = 0


class ServerTools(Struct, gc=False):
    """The requests of tools that run at the vendor and are billed by request."""

    web_search_requests: int | None = 0


class Tokens(Struct, gc=False):
    """A message's usage."""

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    cache_creation: CacheWrites | None = None
    server_tool_use: ServerTools | None = None


class ResultPart(Struct, gc=False):
    """A part of a tool's result."""

    type: str = ""
    text: str | None = None
    source: Raw = _NOTHING


class FunctionAnswer(Struct, rename="camel", gc=False):
    """A tool's result as forks of Gemini CLI write it."""

    response_parts: Raw = _NOTHING


class Block(Struct, gc=False):
    """A part of a message."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    input: Raw = _NOTHING
    tool_use_id: str | None = None
    is_error: bool | None = None
    content: str | list[ResultPart] | FunctionAnswer | None = None
    text: Raw = _NOTHING


class Message(Struct, gc=False):
    """A message of a person, a tool or the model."""

    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    usage: Tokens | None = None
    stop_reason: str | None = None


class Boundary(Struct, rename="camel", gc=False):
    """The facts of a compaction."""

    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None


class Origin(Struct, gc=False):
    """The origin of a user line."""

    kind: str | None = None


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
    permission_mode: str | None = None
    prompt_source: str | None = None
    session_kind: str | None = None  # `bg` for a session in the background.
    origin: Origin | None = None
    tool_denial_kind: str | None = None
    message: Message | None = None
    tool_use_result: Raw = _NOTHING
    compact_metadata: Boundary | None = None
    attachment: Raw = _NOTHING
    content: Raw = _NOTHING
    data: Raw = _NOTHING
    parent_tool_use_id: str | None = msgspec.field(name="parentToolUseID", default=None)


class ToolDetails(Struct, rename="camel", gc=False):
    """Facts that a tool adds to its result's text."""

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
    """A prompt that waited for the agent, the output of a hook, or a verdict on a goal."""

    type: str = ""
    prompt: str | list[ResultPart] | None = None
    content: list[str] | str | None = None
    commandMode: str | None = None  # noqa: N815
    failed: bool | None = None

    @property
    def failed_goal(self) -> bool:
        """Whether the agent's own check says that its goal cannot be reached."""
        return self.type == "goal_status" and self.failed is True


class AgentProgress(Struct, rename="camel", gc=False):
    """The progress of a call, as far as it concerns a sub-agent."""

    type: str = ""
    agent_id: str | None = None


decode_line = msgspec.json.Decoder(ClaudeLine).decode  # A line as it should be; raises one of `FAULTS` for any other.


def salvage_line(record: bytes) -> tuple[ClaudeLine | None, str]:
    """Return the readable fields of a broken line, and what is wrong with it."""
    try:
        decode_line(record)
    except msgspec.ValidationError:
        line = salvage(record, ClaudeLine)
        return line, "field of the wrong type" if line else "not an object"
    except FAULTS:
        pass
    return None, "not JSON"


def read_part(raw: Raw, kind: type[T]) -> T | None:
    """Decode a part that was left raw; None if it is something else."""
    if bytes(memoryview(raw)[:1]) != b"{":
        return None
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError:
        return salvage(bytes(raw), kind)
    except FAULTS:
        return None


def token_count(value: int | None) -> int:
    """Return a number of tokens; 0 if it is missing or impossible."""
    return value if value is not None and 0 < value < _LARGEST else 0


def is_agent_progress(line: ClaudeLine) -> bool:
    """Whether a progress line is about a sub-agent."""
    progress = decoded(line.data, AgentProgress)
    return progress is not None and progress.type == "agent_progress"


_UNSPOKEN = known_phrases("claude-unspoken")
_GOODBYE = re.compile(r"\s*<command-name>/(?:exit|quit)</command-name>")
_GOAL = re.compile(
    r"<command-name>/goal</command-name>.*?"
    r"<command-args>(?!\s*(?:clear|stop|off|reset|none|cancel)?\s*</command-args>)",
    re.DOTALL,
)
# A command of the program that the agent works on at once, unless it shows or ends the goal.
# Parts that the program adds to the person's text.
_ADDED = ("<system-reminder>", "<ide_opened_file>", "<ide_selection>", "<ide_diagnostics>")


def user_words(content: str | list[Block] | None) -> str:
    """Return the text of a user line, without what the program added."""
    if isinstance(content, str):
        return content
    if not content:
        return ""
    texts = [block_text(block.text) for block in content if block.type == "text"]
    joined = "\n".join(text for text in texts if not text.startswith(_ADDED))
    if not joined.strip() and any(block.type in ("image", "document") for block in content):
        return "[image]"
    return joined


def is_machine_prompt(line: ClaudeLine) -> bool:
    """Whether a program wrote a user line: a notice of a task, not the person."""
    return line.prompt_source == "system" or (line.origin is not None and line.origin.kind == "task-notification")


def is_goodbye(text: str) -> bool:
    """Whether the person ended the session by its command."""
    return bool(_GOODBYE.match(text))


def is_prompt(text: str) -> bool:
    """Whether a text was meant for the agent by the person."""
    text = text.lstrip()
    return bool(text) and (not text.startswith(_UNSPOKEN) or bool(_GOAL.match(text)))


def block_text(raw: Raw) -> str:
    """Return the text in a raw value; blank if it is not a text."""
    return decoded(raw, str) or ""


def result_text(block: Block) -> str:
    """The text of a tool's result."""
    content = block.content
    if isinstance(content, str):
        return content
    if not content or isinstance(content, FunctionAnswer):
        return ""
    return "\n".join(piece.text for piece in content if piece.text)


MODE = "permission-mode"  # A line that says what the agent may do from here on.
_ASIDES = known_words("claude-asides")
_PASSED_OVER = frozenset(kind.encode() for kind in _ASIDES)
_KINDS = _ASIDES | {"user", "assistant", "system", "progress", "queue-operation", "attachment", MODE}
_SUBTYPES = known_words("claude-subtypes")
_ATTACHMENTS = known_words("claude-attachments")
# What other ignored lines contain if they matter after all.
_SIGNS = {b"progress": b"agent_progress", b"queue-operation": b"<task-notification>"}
_TYPE = b'"type":"'
_MESSAGE = b'"message":'
_PROGRESS = _TYPE + b'progress","data":'
_BEFORE = len(_PROGRESS)
_DATA = b'{"type":"'
_AGENTS = _DATA + b"agent_progress"
# Where another object may follow the first on a line; no text contains this except at its end.
_glued = re.compile(rb'\}[\0 \t\r]*\{[\0 \t\r]*"').search


def passes(record: bytes) -> bool:
    """Whether a line's beginning shows that it can be ignored; doubtful lines are decoded.

    A shortcut for `matters`, for lines as Claude Code writes them.
    """
    inside = record.find(b"{", 1, 1000)
    if inside > _BEFORE:
        field = record[inside - _BEFORE : inside]
        if field.endswith(_MESSAGE):
            return False
        if field == _PROGRESS:
            beginning = record[inside : inside + 72]
            if beginning.startswith(_DATA):
                return not beginning.startswith(_AGENTS) and b"\\" not in beginning and not _glued(record)
    at = record.find(_TYPE, 1, inside if inside > 0 else 1000)
    if at == 1:
        kind = record[9 : record.find(b'"', 9, 64)]
        if kind in _PASSED_OVER:
            return not _glued(record)
        sign = _SIGNS.get(kind)
        return sign is not None and sign not in record and b"\\u" not in record and not _glued(record)
    return False


_result_of_call = re.compile(rb'\{"role":"user","content":\[\{(?:"tool_use_id":"[^"\\]*",)?"type":"tool_result"').match


def is_result(record: bytes) -> bool:
    """Whether a line is the result of a call as Claude Code writes it, and nothing else."""
    inside = record.find(b"{", 1, 1000)
    if inside < 0 or not _result_of_call(record, inside) or record[inside - len(_MESSAGE) : inside] != _MESSAGE:
        return False
    return not _glued(record)


def unknown_kind(line: ClaudeLine) -> str:
    """Return the kind of a line that is new to this reader; blank for a known one."""
    if line.type == "system":
        return "" if not line.subtype or line.subtype in _SUBTYPES else f"system/{line.subtype}"
    if line.type == "attachment":
        part = read_part(line.attachment, Queued)
        kind = part.type if part is not None else ""
        return "" if kind in _ATTACHMENTS or kind.endswith("_delta") else f"attachment/{kind}"
    return "" if line.type in _KINDS else line.type


def matters(line: ClaudeLine) -> bool:
    """Whether a line is read; other lines leave no trace, not even their time."""
    kind = line.type
    if kind == "progress":
        return is_agent_progress(line)
    if kind == "queue-operation":
        return "<task-notification>" in block_text(line.content)
    if kind == "attachment":
        queued = read_part(line.attachment, Queued)
        return queued is not None and bool(queued.type == "queued_command" or queued.failed_goal or our_advice(queued))
    return kind not in _ASIDES


def our_advice(part: Queued) -> str:
    """Return our advice in the output of a hook; blank if there is none."""
    if part.type != "hook_additional_context":
        return ""
    texts = [part.content] if isinstance(part.content, str) else part.content or []
    return next((text for text in texts if is_advice(text)), "")
