"""The answers of a Codex thread: which tokens each took, from running totals or from a record of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from core.agents.models import ENDED, WORDLESS, failed_turn, joined_words
from core.agents.normalizer import AgentKit
from core.agents.values import table, text, token_counts, whole_number
from core.engine.values import fingerprint
from core.events import Turn, Where

_PHASES = {"final_answer": ENDED, "commentary": "commentary"}  # Newer logs mark words as the answer or as commentary.
_HEARD = 16  # Words remembered until their second sign comes; logs with one sign alone never bring it.


class TokenCount(NamedTuple):
    """Tokens of one answer, or of all so far; those sent include cached and written ones."""

    sent: int = 0
    cached: int = 0
    answered: int = 0
    written: int = 0

    def since(self, before: TokenCount) -> TokenCount | None:
        """Return the difference; None if the count started again."""
        more = TokenCount(*(now - then for now, then in zip(self, before, strict=True)))
        return more if min(more) >= 0 else None


class Counts(NamedTuple):
    """The token counts of a thread between two answers."""

    model: str = ""
    spent: TokenCount = TokenCount()  # All so far.
    counted: bool = False  # The log counts tokens at all.
    recorded: bool = False  # Answers have records of their own, and running totals repeat them.
    window: int = 0
    context: int = 0


class _Words(NamedTuple):
    """The agent's words since its last counted answer."""

    said: str
    at: float
    where: Where  # Where it last did.
    stop: str


class Turns:
    """Make a turn of every count that is news, and of words for which none comes."""

    def __init__(self, kit: AgentKit) -> None:
        self._kit = kit
        self.counts = Counts()
        # Words logged by only one sign so far: the sign and a fingerprint of each.
        self._unconfirmed: tuple[tuple[str, int], ...] = ()
        self._over = False
        self._open_words: _Words | None = None
        self._answered = False  # Whether a call was answered since the agent last said or did something.
        self.searches = 0  # Web searches that no turn has paid for yet.

    def say(self, sign: str, answer_text: str, phase: str, at: float, agent: str, where: Where) -> Turn | None:
        """Add words of the agent, and return the turn of the answer before if it is over.

        Two kinds of records may repeat the same words, with the count of their answer between them.
        """
        if not answer_text.strip():
            return None
        digest = fingerprint(answer_text)
        again = [place for place, one in enumerate(self._unconfirmed) if one[1] == digest and one[0] != sign]
        if again:
            self._unconfirmed = self._unconfirmed[: again[0]] + self._unconfirmed[again[0] + 1 :]
            return None
        over = self.acts(agent)
        self._unconfirmed = (*self._unconfirmed, (sign, digest))[-_HEARD:]
        before = "" if self._open_words is None else self._open_words.said
        self._open_words = _Words(joined_words(before, answer_text), at, where, _PHASES.get(phase, ""))
        return over

    def set_model(self, *, model: Any = None, window: Any = None) -> None:
        """Set the model or its window, if given."""
        self.counts = self.counts._replace(
            model=text(model) or self.counts.model, window=whole_number(window) or self.counts.window
        )

    def total(self, info: dict[str, Any] | None, at: float, agent: str, where: Where) -> Turn | None:
        """Return the turn of a running total; None if nothing was added."""
        self.counts = self.counts._replace(counted=True)
        if info is None:
            return None
        self.set_model(window=info.get("model_context_window"))
        total, last = _count(info.get("total_token_usage")), _count(info.get("last_token_usage"))
        before = self.counts.spent
        if total == before or self.counts.recorded:
            return None
        self.counts = self.counts._replace(spent=total)
        return self._turn(total.since(before) or (last if any(last) else total), last.sent, "", at, agent, where)

    def record(self, record: dict[str, Any], at: float, agent: str, where: Where) -> Turn | None:
        """Return the turn of one answer's usage, which newer logs have."""
        self.counts = self.counts._replace(counted=True, recorded=True)
        usage = _count(record.get("usage"))
        if not any(usage):
            return None
        return self._turn(usage, usage.sent, text(record.get("response_id")), at, agent, where)

    def pass_over(self, info: Any) -> None:
        """Start counting from a running total of the parent thread."""
        total = _count(table(info).get("total_token_usage"))
        if any(total):
            self.counts = self.counts._replace(spent=total)

    def acts(self, agent: str) -> Turn | None:
        """Advance to an act of the agent; in a log without counts, answered calls end an answer."""
        self._over = False
        answered, self._answered = self._answered, False
        return self.close(agent) if answered and not self.counts.counted else None

    def answered(self) -> None:
        """A call got its answer."""
        self._answered = True

    def uncounted(self, agent: str) -> Turn | None:
        """Return the turn of words whose tokens are not logged yet; they keep waiting."""
        words = self._open_words
        return None if words is None else self._build_turn(words.at, agent, words.where)

    def close(self, agent: str) -> Turn | None:
        """Close the open words, whose tokens will not be logged, and return their turn."""
        turn, self._open_words = self.uncounted(agent), None
        self._over = turn is not None and turn.stop == ENDED
        return turn

    def end(self, at: float, agent: str, where: Where) -> Turn | None:
        """Return the turn that the log ends; None if an answer or an error ended it before."""
        over, last_turn = self._over, self.close(agent)
        self._over = True
        if last_turn is not None:
            return replace(last_turn, stop=ENDED)
        return None if over else replace(self._build_turn(at, agent, where), stop=ENDED, cost=0.0)

    def fail(self, at: float, agent: str, where: Where) -> list[Turn]:
        """An error ended the agent's turn, maybe after words."""
        last_turn = self.close(agent)
        self._over = True
        return [*filter(None, [last_turn]), failed_turn(at, agent, where)]

    def _turn(self, usage: TokenCount, context: int, message: str, at: float, agent: str, where: Where) -> Turn:
        turn = self._build_turn(
            at,
            agent,
            where,
            message=message,
            input_tokens=max(0, usage.sent - usage.cached - usage.written),
            cache_read=min(usage.sent, usage.cached),
            cache_write=usage.written,
            output_tokens=usage.answered,
            searches=self.searches,
        )
        self.searches = 0
        self._open_words, self._answered, self._over = None, False, turn.stop == ENDED
        context = context or turn.context_tokens
        self.counts = self.counts._replace(context=context)
        return turn if context == turn.context_tokens else replace(turn, context_tokens=context)

    def _build_turn(self, at: float, agent: str, where: Where, **facts: Any) -> Turn:
        """A turn with the words that wait."""
        words = self._open_words
        return self._kit.models.turn(
            at,
            model=self.counts.model,
            agent=agent,
            where=where,
            window=self.counts.window,
            stop=words.stop if words else WORDLESS,
            said=words.said if words else "",
            said_at=words.where if words else None,
            **facts,
        )


def _count(value: Any) -> TokenCount:
    """Read a token_usage object."""
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "cache_write_input_tokens")
    return TokenCount(*token_counts(table(value), *names))
