"""The answers that agents are giving, each told on several lines: one turn for each."""

from __future__ import annotations

from collections.abc import Iterator

from core.agents.claude_code.lines import Message, Tokens, token_count
from core.agents.claude_code.texts import user_words
from core.agents.reader import AgentKit
from core.agents.usage import ClosedTurns, Usage
from core.events import Turn, Where

_FINAL = ("end_turn", "stop_sequence", "max_tokens", "refusal")


class OpenAnswers:
    """Hold each agent's answer until another begins, with the last usage and all the words of its lines."""

    __slots__ = ("_kit", "_messages", "_usage", "_words")

    def __init__(self, kit: AgentKit) -> None:
        self._kit = kit
        self._usage = Usage(kit.models)
        self._messages: dict[str, tuple[Message, float, Where]] = {}
        self._words: dict[str, tuple[str, Where]] = {}
        """What each agent's open answer says so far, and where it last said something."""

    def take(self, agent: str, message: Message, at: float, where: Where) -> Turn | None:
        """Take in a line of an agent's answer; the answer before, where this is another.

        A line that no model wrote is no answer.
        """
        before = self._messages.get(agent)
        other = before is not None and (before[0].id != message.id or not message.id)
        closed = self.close(agent) if other else None
        if message.usage is None or message.model == "<synthetic>":
            return closed
        self._messages[agent] = (message, at, where)
        said = user_words(message.content)
        if said:
            already = self._words.get(agent)
            self._words[agent] = (already[0] + said if already else said), where
        return closed

    def close(self, agent: str) -> Turn | None:
        """The turn of an agent's open answer; None where there is none, or it was told before."""
        held = self._messages.pop(agent, None)
        said = self._words.pop(agent, None)
        return None if held is None else self._usage.once(self._turn(agent, *held, said))

    def read(self) -> Iterator[Turn]:
        """The open answers as far as they are known."""
        for agent, held in self._messages.items():
            turn = self._usage.only(self._turn(agent, *held, self._words.get(agent)))
            if turn is not None:
                yield turn

    def pause(self) -> ClosedTurns | None:
        """What is known of answers while none is open."""
        return None if self._messages or self._words else self._usage.pause()

    def resume(self, closed: ClosedTurns) -> None:
        """Go on from there."""
        self._usage.resume(closed)

    def _turn(
        self, agent: str, message: Message, at: float, where: Where, said: tuple[str, Where] | None
    ) -> Turn:
        usage = message.usage or Tokens()
        return self._kit.models.turn(
            at,
            model=message.model or "",
            input_tokens=token_count(usage.input_tokens),
            output_tokens=token_count(usage.output_tokens),
            cache_read=token_count(usage.cache_read_input_tokens),
            cache_write=token_count(usage.cache_creation_input_tokens),
            cache_write_1h=token_count(usage.cache_creation.ephemeral_1h_input_tokens)
            if usage.cache_creation is not None
            else 0,
            message=message.id or "",
            agent=agent,
            where=where,
            stop=message.stop_reason or "",
            said=said[0] if said else "",
            said_at=said[1] if said else None,
        )


def is_final(message: Message) -> bool:
    """Whether a line is the last of its answer."""
    return message.stop_reason in _FINAL
