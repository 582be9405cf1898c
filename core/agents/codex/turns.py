"""The answers of a Codex thread: which tokens each took, from running totals or from a record of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from core.agents.lexicon import joined_words
from core.agents.loose import table, text, whole_number
from core.agents.reader import AgentKit
from core.agents.usage import ENDED, WORDLESS, failed_turn
from core.engine.fingerprint import fingerprint
from core.events import Turn, Where

_PHASES = {"final_answer": ENDED, "commentary": "commentary"}
"""Newer logs say of words whether they are the answer or said on the way to it."""
_HEARD = 16
"""Words remembered until their second sign comes; logs with one sign alone never bring it."""


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
    counted: bool = False
    """The log counts tokens at all."""
    recorded: bool = False
    """Answers have records of their own, and running totals repeat them."""
    window: int = 0
    context: int = 0


class TurnState(NamedTuple):
    """What is known of a thread's answers while no words wait for a count."""

    counts: Counts = Counts()
    heard: tuple[tuple[str, int], ...] = ()
    """Words told by one sign alone so far: the sign and a fingerprint of each."""
    over: bool = False
    """The agent's turn is over, and an event has told it."""


class _Words(NamedTuple):
    """What the agent said since its last answer was counted."""

    said: str
    at: float
    where: Where
    """Where it last did."""
    stop: str


class Turns:
    """Make a turn of every count that is news, and of words for which none comes."""

    __slots__ = ("_answered", "_heard", "_kit", "_over", "_words", "counts")

    def __init__(self, kit: AgentKit) -> None:
        self._kit = kit
        self.counts = Counts()
        self._heard: tuple[tuple[str, int], ...] = ()
        self._over = False
        self._words: _Words | None = None
        self._answered = False
        """A call was answered since the agent last said or did something."""

    @property
    def state(self) -> TurnState:
        """All it knows but words."""
        return TurnState(self.counts, self._heard, self._over)

    @state.setter
    def state(self, known: TurnState) -> None:
        self.counts, self._heard, self._over = known

    @property
    def speaking(self) -> bool:
        """Whether words wait for the count of their answer."""
        return self._words is not None

    def say(self, sign: str, said: str, phase: str, at: float, agent: str, where: Where) -> Turn | None:
        """The agent's words, of which several may belong to one answer; the answer before, if it is over.

        A log may tell the same ones by two signs, and count their answer between the two.
        """
        if not said.strip():
            return None
        known = fingerprint(said)
        again = [place for place, one in enumerate(self._heard) if one[1] == known and one[0] != sign]
        if again:
            self._heard = self._heard[: again[0]] + self._heard[again[0] + 1 :]
            return None
        over = self.acts(agent)
        self._heard = (*self._heard, (sign, known))[-_HEARD:]
        before = "" if self._words is None else self._words.said
        self._words = _Words(joined_words(before, said), at, where, _PHASES.get(phase, ""))
        return over

    def told(self, *, model: Any = None, window: Any = None) -> None:
        """A line names the model or its window; what it leaves out stays."""
        self.counts = self.counts._replace(
            model=text(model) or self.counts.model, window=whole_number(window) or self.counts.window
        )

    def total(self, info: dict[str, Any] | None, at: float, agent: str, where: Where) -> Turn | None:
        """A running total, which a line may leave out; None where nothing came on top of it."""
        self.counts = self.counts._replace(counted=True)
        if info is None:
            return None
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
        self.counts = self.counts._replace(counted=True, recorded=True)
        spent = _count(record.get("usage"))
        if not any(spent):
            return None
        return self._turn(spent, spent.sent, text(record.get("response_id")), at, agent, where)

    def pass_over(self, info: Any) -> None:
        """A running total of the parent's: what comes on top is counted from there."""
        total = _count(table(info).get("total_token_usage"))
        if any(total):
            self.counts = self.counts._replace(spent=total)

    def acts(self, agent: str) -> Turn | None:
        """The agent says or does something; in a log without counts, answered calls end an answer."""
        self._over = False
        answered, self._answered = self._answered, False
        return self.close(agent) if answered and not self.counts.counted else None

    def answered(self) -> None:
        """A call got its answer."""
        self._answered = True

    def uncounted(self, agent: str) -> Turn | None:
        """The turn of words whose tokens no line has told; they go on waiting for one."""
        return None if self._words is None else self._made(self._words.at, agent, self._words.where)

    def close(self, agent: str) -> Turn | None:
        """The same where none will tell them any more."""
        turn, self._words = self.uncounted(agent), None
        self._over = turn is not None and turn.stop == ENDED
        return turn

    def end(self, at: float, agent: str, where: Where) -> Turn | None:
        """The log says that the agent ended its turn; None where an answer or an error told it before."""
        over, said = self._over, self.close(agent)
        self._over = True
        if said is not None:
            return replace(said, stop=ENDED)
        return None if over else replace(self._made(at, agent, where), stop=ENDED, cost=0.0)

    def fail(self, at: float, agent: str, where: Where) -> list[Turn]:
        """An error ended the agent's turn, maybe after words."""
        said = self.close(agent)
        self._over = True
        return [*filter(None, [said]), failed_turn(at, agent, where)]

    def _turn(
        self, spent: TokenCount, context: int, message: str, at: float, agent: str, where: Where
    ) -> Turn:
        turn = self._made(
            at,
            agent,
            where,
            message=message,
            input_tokens=max(0, spent.sent - spent.cached - spent.written),
            cache_read=min(spent.sent, spent.cached),
            cache_write=spent.written,
            output_tokens=spent.answered,
        )
        self._words, self._answered, self._over = None, False, turn.stop == ENDED
        context = context or turn.context_tokens
        self.counts = self.counts._replace(context=context)
        return turn if context == turn.context_tokens else replace(turn, context_tokens=context)

    def _made(self, at: float, agent: str, where: Where, **told: Any) -> Turn:
        """A turn with the words that wait."""
        words = self._words
        return self._kit.models.turn(
            at,
            model=self.counts.model,
            agent=agent,
            where=where,
            window=self.counts.window,
            stop=words.stop if words else WORDLESS,
            said=words.said if words else "",
            said_at=words.where if words else None,
            **told,
        )


def _count(value: Any) -> TokenCount:
    """Read a token_usage object."""
    told = table(value)
    return TokenCount(
        whole_number(told.get("input_tokens")),
        whole_number(told.get("cached_input_tokens")),
        whole_number(told.get("output_tokens")),
        whole_number(told.get("cache_write_input_tokens")),
    )
