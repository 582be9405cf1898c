"""Forks that Claude Code makes for itself, to sum up a context or to suggest a prompt: what they spend."""

from __future__ import annotations

import re

from msgspec.structs import replace

from core.agents.claude_code.answers import OpenAnswers
from core.agents.claude_code.lines import ClaudeLine
from core.agents.claude_code.texts import is_prompt, user_words
from core.agents.reader import AgentKit
from core.events import MAIN, Event, Turn, Where

_NAME = re.compile(r"a[a-z_]{4,}-")


def is_helper(agent: str) -> bool:
    """Whether an agent's name is that of a fork, and not of a delegation."""
    return bool(_NAME.match(agent))


class Fork:
    """Holds what a fork answered since it was last asked.

    What stands before that its log may repeat from the log it was forked from, with the same ids and times.
    Its tokens are the session's; they are in nobody's context, and its words are said to nobody.
    """

    __slots__ = ("_answers", "_kit", "_spent")

    def __init__(self, kit: AgentKit) -> None:
        self._kit = kit
        self._answers = OpenAnswers(kit)
        self._spent: list[Turn] = []

    def take(self, line: ClaudeLine, at: float, where: Where) -> None:
        """Take in one line of its log."""
        message = line.message
        if message is None:
            return
        if line.type == "assistant":
            before = self._answers.take(MAIN, message, at, where)
            if before is not None:
                self._spent.append(before)
        elif line.type == "user" and _asks(user_words(message.content)):
            self._answers = OpenAnswers(self._kit)
            self._spent.clear()

    def pending_events(self) -> list[Event]:
        """What it has spent so far, as the main agent's."""
        return [
            replace(
                turn,
                stop="total",
                context_tokens=0,
                context_window=0,
                checking=0,
                doubting=0,
                said=None,
            )
            for turn in (*self._spent, *self._answers.read())
        ]


def _asks(text: str) -> bool:
    return is_prompt(text) and not text.startswith("[Request interrupted by user")
