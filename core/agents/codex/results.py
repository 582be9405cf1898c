"""What the text of a Codex tool result says, in each era's words."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from core.agents.calls import Result
from core.agents.loose import amount, code, decode, table, words

_HEAD = 1200
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code)\s*(-?\d{1,10})\b", re.MULTILINE)
_WALL = re.compile(r"^Wall time:?\s*([\d.]{1,12})\s*s", re.MULTILINE)
_RUNNING = re.compile(
    r"^(?:Process running with session ID|Script running with cell ID)\s*(\S{1,40})", re.MULTILINE
)
_OUTPUT = re.compile(r"^Output:[ \t]*\n?", re.MULTILINE)
_FAILED = (
    "Script failed",
    "Script error",
    "apply_patch verification failed",
    "apply_patch handler received",
    "Failed to apply patch",
    "patch rejected: empty patch",
    "failed to parse",
    "failed in sandbox",
    "exec_command failed",
    "write_stdin failed",
    "execution error",
    "unsupported call",
    "unsupported custom tool",
    "unknown tool",
    "tool call error",
    "tool call failed",
    "resources/read failed",
    "command timed out",
    "err: ",
    "Error: ",
    "error: ",
)
_REJECTED = re.compile(
    r"(?:rejected by user|rejected by the user|aborted by user|command rejected"
    r"|patch rejected(?!: empty patch)|approval policy|rejected due to"
    r"|denied by|rejected by policy|user denied)",
    re.IGNORECASE,
)


class Output(NamedTuple):
    """A result, and the process it leaves running."""

    result: Result
    process: str = ""


def read_output(value: Any) -> Output:
    """Read a call's output, whatever era wrote it."""
    success: Any = None
    if isinstance(value, dict):
        success = value.get("success")
        value = value.get("content", value.get("output"))
    text = words(value)
    if text.startswith("{"):
        told = table(decode(text.encode("utf-8", "surrogatepass")))
        if isinstance(told.get("metadata"), dict) and "output" in told:
            facts = told["metadata"]
            return Output(
                _ended(
                    words(told["output"]), code(facts.get("exit_code")), amount(facts.get("duration_seconds"))
                )
            )
    parted = _OUTPUT.search(text[:_HEAD])
    head = text[: parted.start()] if parted else text[:_HEAD]
    told_code = (
        _EXIT.search(head)
        if parted or text.startswith(("Exit code", "Process exited", "Chunk ID", "Wall time"))
        else None
    )
    running = _RUNNING.search(head)
    wall = _WALL.search(head)
    took = amount(_number(wall.group(1))) if wall else None
    body = text[parted.end() :] if parted else text
    if running:
        return Output(Result(body, running=True, duration=took), running.group(1).rstrip(".,"))
    if told_code:
        return Output(_ended(body, int(told_code.group(1)), took))
    failed = success is False or text.startswith(_FAILED)
    rejected = bool(_REJECTED.search(text[:200])) and (failed or len(text) < 400)
    return Output(Result(body, error=failed, rejected=rejected, duration=took))


def _ended(text: str, exit_code: int | None, took: float | None) -> Result:
    rejected = bool(exit_code) and bool(_REJECTED.match(text[:200].removeprefix("exec ")))
    return Result(text, exit_code=exit_code, duration=took, rejected=rejected)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
