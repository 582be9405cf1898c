"""What OpenHands tells of the tokens and the cost of its answers."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.agents.loose import amount, table, text, whole_number


class TokensUsed(NamedTuple):
    """What a conversation has used so far."""

    model: str = ""
    sent: int = 0
    answered: int = 0
    read: int = 0
    written: int = 0
    cost: float = 0.0


def spent(told: dict[str, Any]) -> TokensUsed:
    """The totals of one of a conversation's models."""
    used = table(told.get("accumulated_token_usage"))
    return TokensUsed(
        text(told.get("model_name")),
        whole_number(used.get("prompt_tokens")),
        whole_number(used.get("completion_tokens")),
        whole_number(used.get("cache_read_tokens")),
        whole_number(used.get("cache_write_tokens")),
        amount(told.get("accumulated_cost")) or 0.0,
    )
