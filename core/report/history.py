"""Earlier sessions for an agent that asks: read-only, redacted, bounded, and of one project by default."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from core.agents.registry import known_agents, make_kit
from core.agents.words import NOTHING, WordReader, word_logs
from core.errors import NooscopeError, UsageError
from core.events import MAIN, Event, Prompt, ToolUse, Turn
from core.logs.discovery import Found, find
from core.logs.finder import sessions
from core.logs.session import LogSession, read_session
from core.report.changes import change_line, diff_text
from core.report.cost import session_cost
from core.report.formatting import clock, count, moment, money, plain, short
from core.report.log_tree import LogTree, agent_folders
from core.report.outcome import OutcomeReader, read_outcome
from core.report.rollbacks import Rollbacks
from core.report.search import fill_index, search
from core.report.story import story
from core.report.sums import added
from core.settings import Settings
from core.store.reading_cache import Narrowed, WordIndex, reading_cache

LONGEST = 12_000  # Characters of one answer.
_MOST_ROWS = 50
_LONGEST_MESSAGE = 1_000

# The questions an agent may ask about earlier sessions, as the protocol lists its tools.
TOOLS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("history_tools.json").read_text("utf-8"))


class SessionHistory:
    """Answers questions about the sessions on this machine that belong to a project, or about all."""

    tools = TOOLS

    def __init__(self, settings: Settings, project: Path | None, environment: Mapping[str, str], home: Path) -> None:
        self._settings = settings
        self._project = project  # The folder whose sessions may be read; None for all.
        self._environment = environment
        self._home = home

    def answer(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """Return the text of an answer, and whether the question failed."""
        questions: dict[str, Callable[[Mapping[str, Any]], Iterable[str]]] = {
            "search_sessions": self._search,
            "list_sessions": self._list,
            "session_overview": self._overview,
            "session_messages": self._messages,
            "session_changes": self._changes,
            "session_cost": self._cost,
        }
        try:
            return _bounded(questions[name](arguments)), False
        except (NooscopeError, OSError) as error:
            return plain(str(error), 400), True

    def _sessions(self) -> list[Found]:
        every = find(known_agents(), self._environment, self._home)
        return [one for one in every if self._allows(one.project)]

    def _allows(self, project: str) -> bool:
        if self._project is None:
            return True
        return bool(project) and Path(project).is_relative_to(self._project)

    def _session(self, arguments: Mapping[str, Any]) -> LogSession:
        prefix = str(arguments.get("session") or "")
        matches = [one for one in self._sessions() if prefix and one.session.startswith(prefix)]
        if len({one.session for one in matches}) != 1:
            few = f"{count(len(matches), 'session')} of this project begin with {plain(prefix, 40)!r}"
            raise UsageError(f"{few}; list_sessions names them")
        kit = make_kit(self._settings.ingest)
        logs = sessions([matches[0].path], kit, self._settings.ingest.lines)
        return next((one for one in logs if one.id == matches[0].session), logs[0])

    def _read(self, arguments: Mapping[str, Any]) -> tuple[LogSession, list[Event]]:
        session = self._session(arguments)
        kit = make_kit(self._settings.ingest)
        return session, list(read_session(session, kit, self._settings.ingest.lines))

    def _outcome(self, session: LogSession, events: list[Event]) -> OutcomeReader:
        return read_outcome(session, events, make_kit(self._settings.ingest), self._settings.ingest.lines)

    def _search(self, arguments: Mapping[str, Any]) -> list[str]:
        words = str(arguments.get("words") or "").split()
        tree = LogTree(self._settings, reading_cache(self._settings))
        names = tree.sessions_or_none(agent_folders(self._environment, self._home))
        index = WordIndex()
        fill_index(index, tree, names, lambda *_: None)
        project = "" if self._project is None else str(self._project)
        hits = search(index, words, Narrowed("", project, None, None), _limit(arguments, 10))
        return [
            f"{plain(hit.session, 60)}  {hit.agent}  {moment(hit.at) if hit.at else 'undated'}  "
            f"{hit.speaker}{hit.fate}: {plain(hit.snippet, 300)}"
            for hit in hits
            if self._allows(hit.project)
        ] or ["Nothing found."]

    def _list(self, arguments: Mapping[str, Any]) -> list[str]:
        rows = sorted(self._sessions(), key=lambda one: -one.last)[: _limit(arguments, 20)]
        return [
            f"{plain(one.session, 60)}  {one.agent}  {moment(one.last)}  "
            f"about {count(one.events, 'event')}  {plain(one.title, 100)}"
            for one in rows
        ] or ["No sessions of this project were found."]

    def _overview(self, arguments: Mapping[str, Any]) -> list[str]:
        session, events = self._read(arguments)
        reader = WordReader(word_logs(session))
        lines = story(events, read=reader.words).lines()
        outcome = self._outcome(session, events).at(len(events)).lines()
        return [*lines, *(f"outcome {line}" for line in outcome), f"{count(len(events), 'event')}"]

    def _messages(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        session, events = self._read(arguments)
        first = max(1, _integer(arguments.get("from"), 1))
        last = min(len(events), _integer(arguments.get("to"), first + 99))
        reader = WordReader(word_logs(session))
        room, silent = LONGEST - _LONGEST_MESSAGE, True
        rollbacks = Rollbacks()
        rollbacks.grow(events)
        for number in range(first, last + 1):
            line = _message(events[number - 1], reader)
            if line and room < len(line):
                yield f"... the next message is event {number} of {len(events)}"
                return
            if line:
                at = clock(events[number - 1].at - events[0].at)
                at += " (rolled back)" if number - 1 in rollbacks.dropped else ""
                yield f"{number}  {at}  {line}"
                room, silent = room - len(line) - len(at) - len(str(number)) - 5, False
        if silent:
            yield f"No messages among events {first} to {last} of {len(events)}."

    def _changes(self, arguments: Mapping[str, Any]) -> list[str]:
        session, events = self._read(arguments)
        changes = self._outcome(session, events).changes
        files = changes.files(len(events))
        path = str(arguments.get("file") or "")
        if not path:
            return [plain(change_line(one)) for one in files] or ["No file was changed, as far as the log shows."]
        for one in files:
            if one.path == path:
                return [plain(change_line(one)), *diff_text(one, changes.diff(path, len(events))).splitlines()]
        raise UsageError(f"this session did not change {plain(path, 200)}")

    def _cost(self, arguments: Mapping[str, Any]) -> list[str]:
        cost = added(session_cost(self._session(arguments), self._settings).charges)
        return [f"cost {money(cost.dollars, cost.priced, cost.unpriced)}, {short(cost.tokens)} tokens"]


def _message(event: Event, reader: WordReader) -> str:
    """One event in words, cut; empty if it has none."""
    words = reader.words(event)
    if words == NOTHING:
        return ""
    whose = "" if event.agent == MAIN else f"[{plain(event.agent, 24)}] "
    if isinstance(event, Prompt | Turn):
        who = "you" if isinstance(event, Prompt) else "agent"
        return f"{whose}{who}: {plain(words.said, _LONGEST_MESSAGE)}" if words.said else ""
    if isinstance(event, ToolUse):
        output = f" -> {plain(words.output, _LONGEST_MESSAGE // 2)}" if words.output else ""
        return f"{whose}{event.tool} ({event.outcome}): {plain(words.command, _LONGEST_MESSAGE // 2)}{output}"
    return ""


def _limit(arguments: Mapping[str, Any], default: int) -> int:
    return max(1, min(_MOST_ROWS, _integer(arguments.get("limit"), default)))


def _integer(value: Any, default: int) -> int:
    return value if type(value) is int else default


def _bounded(answer: Iterable[str]) -> str:
    """Join lines up to the longest answer, and say how many were left out."""
    lines, room = list(answer), LONGEST
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*lines[:number], f"... {count(len(lines) - number, 'line')} left out"])
    return "\n".join(lines)


def user_history(settings: Settings, project: Path | None) -> SessionHistory:
    """Return the history of the person who runs this."""
    return SessionHistory(settings, project, os.environ, Path.home())
