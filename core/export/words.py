"""The words of an exported session: what each event says, no longer than the export may show."""

from __future__ import annotations

from typing import NamedTuple

from core.agents.words import WordReader, word_logs
from core.events import Event, ToolUse
from core.logs.session import LogSession


class Spoken(NamedTuple):
    """What an event says: of a prompt or a turn its text, of a tool use its call and its result."""

    text: str = ""
    result: str = ""


SILENT = Spoken()


class SessionWords:
    """The words of a session's events, cut to a length."""

    def __init__(self, session: LogSession, longest: int) -> None:
        self._reader = WordReader(word_logs(session))
        self._longest = longest

    def of(self, event: Event) -> Spoken:
        """What one event says; blank where its kind says nothing or the log is gone."""
        words = self._reader.words(event)
        if isinstance(event, ToolUse):
            return Spoken(cut_to(words.command, self._longest), cut_to(words.output, self._longest))
        return Spoken(cut_to(words.said, self._longest)) if words.said else SILENT


def cut_to(text: str, longest: int) -> str:
    """Text no longer than that."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
