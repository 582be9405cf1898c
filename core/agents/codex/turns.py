"""The answers of a Codex thread: which tokens each took, from running totals or from a record of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from core.agents.loose import table, text, whole_number
from core.agents.reader import AgentKit
from core.events import Turn, Where


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


class Counts(NamedTuple):
    """What is known of a thread's tokens between two answers."""

    model: str = ""
    spent: TokenCount = TokenCount()
    """All so far."""
    recorded: bool = False
    """Answers have records of their own, and running totals repeat them."""
    window: int = 0
    context: int = 0


class Turns:
    """Make a turn of every count that is news."""

    __slots__ = ("_kit", "_spoke", "_words", "counts")

    def __init__(self, kit: AgentKit) -> None:
        self._kit = kit
        self.counts = Counts()
        self._words = ""
        """What the agent said since its last answer was counted."""
        self._spoke: Where | None = None
        """Where it last did."""

    @property
    def speaking(self) -> bool:
        """Whether words wait for the count of their answer."""
        return bool(self._words)

    def say(self, said: str, where: Where) -> None:
        """The agent's words, of which several may belong to one answer."""
        if said:
            self._words += said
            self._spoke = where

    def told(self, *, model: Any = None, window: Any = None) -> None:
        """A line names the model or its window; what it leaves out stays."""
        self.counts = self.counts._replace(
            model=text(model) or self.counts.model, window=whole_number(window) or self.counts.window
        )

    def total(self, info: dict[str, Any], at: float, agent: str, where: Where) -> Turn | None:
        """A running total; None where nothing came on top of it."""
        self.told(window=info.get("model_context_window"))
        total, last = _count(info.get("total_token_usage")), _count(info.get("last_token_usage"))
        before = self.counts.spent
        if total == before or self.counts.recorded:
            return None
        self.counts = self.counts._replace(spent=total)
        return self._turn(
            total.since(before) or (last if any(last) else total), last.sent, "", at, agent, where
        )

    def record(self, record: dict[str, Any], at: float, agent: str, where: Where) -> Turn | None:
        """The usage of one answer, in newer logs; their running totals repeat it."""
        self.counts = self.counts._replace(recorded=True)
        spent = _count(record.get("usage"))
        if not any(spent):
            return None
        return self._turn(spent, spent.sent, text(record.get("response_id")), at, agent, where)

    def pass_over(self, info: Any) -> None:
        """A running total of the parent's: what comes on top is counted from there."""
        total = _count(table(info).get("total_token_usage"))
        if any(total):
            self.counts = self.counts._replace(spent=total)

    def _turn(
        self, spent: TokenCount, context: int, message: str, at: float, agent: str, where: Where
    ) -> Turn:
        turn = self._kit.models.turn(
            at,
            model=self.counts.model,
            message=message,
            input_tokens=max(0, spent.sent - spent.cached - spent.written),
            cache_read=min(spent.sent, spent.cached),
            cache_write=spent.written,
            output_tokens=spent.answered,
            agent=agent,
            where=where,
            window=self.counts.window,
            said=self._words,
            said_at=self._spoke,
        )
        self._words, self._spoke = "", None
        context = context or turn.context_tokens
        self.counts = self.counts._replace(context=context)
        return turn if context == turn.context_tokens else replace(turn, context_tokens=context)


def _count(value: Any) -> TokenCount:
    """Read a token_usage object."""
    told = table(value)
    return TokenCount(
        whole_number(told.get("input_tokens")),
        whole_number(told.get("cached_input_tokens")),
        whole_number(told.get("output_tokens")),
        whole_number(told.get("cache_write_input_tokens")),
    )
