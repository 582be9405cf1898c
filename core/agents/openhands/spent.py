"""What OpenHands tells of the tokens and the cost of its answers."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.agents.loose import amount, items, table, text, whole_number

_NO_ANSWERS = frozenset(
    (
        *("system", "null", "initialize", "start", "pause", "resume", "stop", "change_agent_state"),
        *("condensation", "condensation_request", "recall", "loop_recovery"),
    )
)
"""Actions that no answer of the model led to."""
Steps = list[tuple[str, dict[str, Any]]]
"""A run's events with their places."""


class TokensUsed(NamedTuple):
    """What a conversation has used so far, or since it was last told."""

    model: str = ""
    sent: int = 0
    """Cached ones among them."""
    answered: int = 0
    read: int = 0
    written: int = 0
    cost: float = 0.0

    def since(self, before: TokensUsed) -> TokensUsed:
        """What is more than before."""
        return TokensUsed(
            self.model,
            max(0, self.sent - before.sent),
            max(0, self.answered - before.answered),
            max(0, self.read - before.read),
            max(0, self.written - before.written),
            max(0.0, self.cost - before.cost),
        )

    def most(self, other: TokensUsed) -> TokensUsed:
        """The larger of each."""
        return TokensUsed(
            self.model,
            max(self.sent, other.sent),
            max(self.answered, other.answered),
            max(self.read, other.read),
            max(self.written, other.written),
            max(self.cost, other.cost),
        )

    @property
    def fresh(self) -> int:
        """Tokens sent, cached ones left out."""
        return max(0, self.sent - self.read - self.written)

    def __bool__(self) -> bool:
        return any(self[1:])


def spent(told: dict[str, Any]) -> TokensUsed:
    """The totals of one of a conversation's models."""
    used = table(told.get("accumulated_token_usage"))
    return TokensUsed(
        text(told.get("model_name")) or text(used.get("model")),
        whole_number(used.get("prompt_tokens")),
        whole_number(used.get("completion_tokens")),
        whole_number(used.get("cache_read_tokens")),
        whole_number(used.get("cache_write_tokens")),
        amount(told.get("accumulated_cost")) or 0.0,
    )


def response_of(step: dict[str, Any]) -> dict[str, Any]:
    """The model's response that an event carries; both an action and its observation do."""
    return table(table(step.get("tool_call_metadata")).get("model_response"))


def answers_used(steps: Steps, metrics: dict[str, Any]) -> dict[str, TokensUsed]:
    """What each answer used, by the id of its response or else by its place, beside what responses tell.

    Newer versions tell with each action what was spent so far; a list of costs alone is of use only where
    it has one for each answer.
    """
    found: dict[str, TokensUsed] = {}
    most = TokensUsed()
    for place, step in steps:
        now = spent(table(step.get("llm_metrics")))
        used = now.since(most)
        if used:
            found[text(response_of(step).get("id")) or place] = used
            most = now.most(most)
    if found:
        return found
    keys = _answers(steps)
    costs = [_cost(entry) for entry in items(metrics.get("costs"))]
    return dict(zip(keys, costs, strict=True)) if len(keys) == len(costs) else {}


def _answers(steps: Steps) -> list[str]:
    responses = dict.fromkeys(filter(None, (text(response_of(step).get("id")) for _, step in steps)))
    if responses:
        return list(responses)
    acted = [(place, step) for place, step in steps if isinstance(step.get("action"), str)]
    return [
        place
        for number, (place, step) in enumerate(acted)
        if step["action"] not in _NO_ANSWERS
        and (
            step.get("source") == "agent"
            or (step.get("source") is None and (number or step["action"] != "message"))
        )
    ]


def _cost(entry: Any) -> TokensUsed:
    told = table(entry)
    return TokensUsed(text(told.get("model")), cost=amount(told.get("cost") if told else entry) or 0.0)
