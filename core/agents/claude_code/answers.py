"""The answers that agents are giving, each told on several lines: one turn for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from core.agents.claude_code.lines import Message, Tokens, token_count
from core.agents.claude_code.texts import user_words
from core.agents.lexicon import joined_words
from core.agents.reader import AgentKit
from core.agents.usage import ENDED, WORDLESS, ClosedTurns, Usage
from core.events import Turn, Where

_make = tuple.__new__
"""Builds a named tuple without its Python-level constructor: one is made for every line."""
_WORDLESS = ("tool_use", "thinking")
"""Parts that say nothing to the person."""
_THOUGHTS = ("thinking", "redacted_thinking")
_FINAL = ("end_turn", "stop_sequence", "max_tokens", "refusal")


class _Answer(NamedTuple):
    """An open answer: its last line, and its words so far."""

    message: Message
    at: float
    where: Where
    said: str
    said_at: Where | None
    """Where it last said something."""


class OpenAnswers:
    """Hold each agent's answer until another begins, with the last usage and all the words of its lines."""

    __slots__ = ("_kit", "_open", "_usage")

    def __init__(self, kit: AgentKit) -> None:
        self._kit = kit
        self._usage = Usage(kit.models)
        self._open: dict[str, _Answer] = {}

    def take(self, agent: str, message: Message, at: float, where: Where) -> Turn | None:
        """Take in a line of an agent's answer; the answer before, where this is another.

        A line that no model wrote is no answer.
        """
        before = self._open.get(agent)
        closed = None
        if before is not None and (not message.id or before[0].id != message.id):
            closed = self.close(agent)
            before = None
        if message.usage is None or message.model == "<synthetic>":
            return closed
        content = message.content
        wordless = type(content) is list and len(content) == 1 and content[0].type in _WORDLESS
        said = "" if wordless else user_words(content)
        said_at = where if said else None
        if before is not None:
            said = joined_words(before[3], said)
            said_at = said_at or before[4]
        self._open[agent] = _make(_Answer, (message, at, where, said, said_at))
        return closed

    def close(self, agent: str) -> Turn | None:
        """The turn of an agent's open answer; None where there is none, or it was told before."""
        answer = self._open.pop(agent, None)
        if answer is None or self._usage.told(answer[0].id or ""):
            return None
        return self._usage.once(self._turn(agent, answer))

    def end(self, agent: str) -> Turn | None:
        """The same where a line tells that the agent's turn is over, which older answers do not."""
        turn = self.close(agent)
        return replace(turn, stop=ENDED) if turn is not None and turn.stop in ("", WORDLESS) else turn

    def read(self) -> Iterator[Turn]:
        """The open answers as far as they are known."""
        for agent, answer in self._open.items():
            turn = self._usage.only(self._turn(agent, answer))
            if turn is not None:
                yield turn

    def pause(self) -> ClosedTurns | None:
        """What is known of answers while none is open."""
        return None if self._open else self._usage.pause()

    def resume(self, closed: ClosedTurns) -> None:
        """Go on from there."""
        self._usage.resume(closed)

    def _turn(self, agent: str, answer: _Answer) -> Turn:
        message, at, where, said, said_at = answer
        usage = message.usage or Tokens()
        kept = usage.cache_creation
        return self._kit.models.turn(
            at,
            model=message.model or "",
            input_tokens=token_count(usage.input_tokens),
            output_tokens=token_count(usage.output_tokens),
            cache_read=token_count(usage.cache_read_input_tokens),
            cache_write=token_count(usage.cache_creation_input_tokens),
            cache_write_1h=token_count(kept.ephemeral_1h_input_tokens) if kept is not None else 0,
            message=message.id or "",
            agent=agent,
            where=where,
            stop=message.stop_reason or ("" if said_at else WORDLESS),
            said=said,
            said_at=said_at,
        )


def is_final(message: Message) -> bool:
    """Whether a line is the last of its answer; behind thoughts there are words to come."""
    if message.stop_reason not in _FINAL:
        return False
    content = message.content
    return type(content) is not list or any(block.type not in _THOUGHTS for block in content)
