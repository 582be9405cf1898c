"""What Codex tells beside a call's output and beside an answer: how it ended, and what it used."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.agents.calls import Result
from core.agents.loose import amount, code, table, text, whole_number

_FAILED = frozenset(("failed", "error"))
_CALLS = frozenset(("CommandExecution", "FileChange", "McpToolCall", "DynamicToolCall", "WebSearch"))


class TokenCount(NamedTuple):
    """Tokens of one answer, or of all so far; those sent include cached and written ones."""

    sent: int = 0
    cached: int = 0
    answered: int = 0
    written: int = 0

    def since(self, before: TokenCount) -> TokenCount | None:
        """What came on top; None where the count started again."""
        more = TokenCount(*(now - then for now, then in zip(self, before, strict=True)))
        return more if min(more) >= 0 else None


def read_spent(value: Any) -> TokenCount:
    """Read a token_usage object."""
    told = table(value)
    return TokenCount(
        whole_number(told.get("input_tokens")),
        whole_number(told.get("cached_input_tokens")),
        whole_number(told.get("output_tokens")),
        whole_number(told.get("cache_write_input_tokens")),
    )


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
