"""What Codex tells of the end of a call beside its output."""

from __future__ import annotations

from typing import Any

from core.agents.calls import Result
from core.agents.loose import amount, code, table, text, whole_number

_FAILED = frozenset(("failed", "error"))
_CALLS = frozenset(("CommandExecution", "FileChange", "McpToolCall", "DynamicToolCall", "WebSearch"))


def end_fact(event: dict[str, Any]) -> Result:
    """What an event of a call's end says."""
    result = table(event.get("result"))
    failed = (
        event.get("success") is False or "Err" in result or table(result.get("Ok")).get("isError") is True
    )
    return Result(error=failed, exit_code=code(event.get("exit_code")), duration=_took(event.get("duration")))


def item_fact(item: dict[str, Any]) -> Result | None:
    """What a completed item says of its call; its duration is that of the start alone and left out."""
    if item.get("type") not in _CALLS:
        return None
    status, exited = text(item.get("status")), code(item.get("exit_code"))
    return Result(
        error=status in _FAILED and exited is None,
        exit_code=exited,
        rejected=status == "declined",
    )


def _took(value: Any) -> float | None:
    told = table(value)
    return amount((whole_number(told.get("secs")) * 1_000_000_000 + whole_number(told.get("nanos"))) / 1e9)
