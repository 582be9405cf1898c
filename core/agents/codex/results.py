"""The calls of Codex: how an exec or another call ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from core.agents.calls import Result
from core.agents.tables import known_pattern, known_phrases
from core.agents.values import amount, code, decode, table, text, whole_number, words
from core.events import Action

_FAILED_STATES = frozenset(("failed", "error"))
_CALLS = frozenset(("CommandExecution", "FileChange", "McpToolCall", "DynamicToolCall", "WebSearch"))


def end_fact(event: dict[str, Any]) -> Result:
    """Return how an event says that a call ended."""
    result = table(event.get("result"))
    failed = event.get("success") is False or "Err" in result or table(result.get("Ok")).get("isError") is True
    return Result(error=failed, exit_code=code(event.get("exit_code")), duration=_took(event.get("duration")))


def item_fact(item: dict[str, Any]) -> Result | None:
    """Return how a completed item says that its call ended; its duration is unreliable and left out."""
    if item.get("type") not in _CALLS:
        return None
    status, exited = text(item.get("status")), code(item.get("exit_code"))
    return Result(
        text(item.get("aggregated_output")),
        error=status in _FAILED_STATES and exited is None,
        exit_code=exited,
        rejected=status == "declined",
    )


def _took(value: Any) -> float | None:
    parts = table(value)
    return amount((whole_number(parts.get("secs")) * 1_000_000_000 + whole_number(parts.get("nanos"))) / 1e9)


_HEAD = 1200
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code)\s*(-?\d{1,10})\b", re.MULTILINE)
_WALL = re.compile(r"^Wall time:?\s*([\d.]{1,12})\s*s", re.MULTILINE)
_RUNNING = re.compile(r"^(?:Process running with session ID|Script running with cell ID)\s*(\S{1,40})", re.MULTILINE)
# The exit code of a command inside a script, if the script prints it.
_PRINTED = re.compile(r'"exit_code"\s*:\s*(-?\d{1,9})\b')
_OUTPUT = re.compile(r"^Output:[ \t]*\n?", re.MULTILINE)
_FAILED = (*known_phrases("codex-failures"), "err: ", "Error: ", "error: ")
_REJECTED = known_pattern("codex-rejected", re.IGNORECASE)


class Output(NamedTuple):
    """A result, and the process it leaves running."""

    result: Result
    process: str = ""


def read_output(value: Any, cell: Sequence[Action] | None = None) -> Output:
    """Read a call's output, whatever era wrote it; that of a `cell`, a script of such calls, may print exit codes."""
    success: Any = None
    if isinstance(value, dict):
        success = value.get("success")
        value = value.get("content", value.get("output"))
    text = words(value)
    if text.startswith("{"):
        opened = table(decode(text))
        if isinstance(opened.get("metadata"), dict) and "output" in opened:
            facts = opened["metadata"]
            exited, lasted = code(facts.get("exit_code")), amount(facts.get("duration_seconds"))
            return Output(_ended(words(opened["output"]), exited, lasted))
    parted = _OUTPUT.search(text[:_HEAD])
    head = text[: parted.start()] if parted else text[:_HEAD]
    has_head = parted or text.startswith(("Exit code", "Process exited", "Chunk ID", "Wall time"))
    told_code = _EXIT.search(head) if has_head else None
    running = _RUNNING.search(head)
    wall = _WALL.search(head)
    took = amount(_number(wall.group(1))) if wall else None
    body = text[parted.end() :] if parted else text
    if running:
        return Output(Result(body, running=True, duration=took), running.group(1).rstrip(".,"))
    if told_code:
        return Output(_ended(body, int(told_code.group(1)), took))
    if cell is not None and (codes := [int(number) for number in _PRINTED.findall(body)]):
        printed = [result for line in body.splitlines() if "exit_code" in (result := table(decode(line)))]
        if 1 < len(cell) == len(printed) == len(codes):
            outputs = [words(result.get("output")) for result in printed]
            codes = [0 if found_nothing(*end) else end[1] for end in zip(cell, codes, outputs, strict=True)]
        whole = table(decode(body))
        return Output(_ended(words(whole.get("output")) if whole else body, next(filter(None, codes), 0), took))
    failed = success is False or text.startswith(_FAILED)
    rejected = bool(_REJECTED.search(text[:200])) and (failed or len(text) < 400)
    return Output(Result(body, error=failed, rejected=rejected, duration=took))


def found_nothing(action: Action, exit_code: int | None, output: str) -> bool:
    """Whether a command inside a script is a search without a match; the script did not fail then."""
    return action == "search" and exit_code == 1 and not output.strip()


def _ended(text: str, exit_code: int | None, took: float | None) -> Result:
    rejected = bool(exit_code) and bool(_REJECTED.match(text[:200].removeprefix("exec ")))
    return Result(text, exit_code=exit_code, duration=took, rejected=rejected)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
