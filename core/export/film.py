"""A saved session run once through the engine, as a reader elsewhere needs to see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from msgspec.structs import replace

from core import events as kinds
from core.agents.registry import make_kit
from core.agents.words import WordReader, word_logs
from core.live.status import Limits, Status, StatusFacts, status_of
from core.live.status_facts import StatusHistory
from core.logs.redact.values import one_line
from core.logs.session import LogSession
from core.report.analysis import Gatherer, Summary
from core.report.event_words import about
from core.report.formatting import token_amount
from core.report.outcome import outcome_with_fates, read_outcome
from core.report.rollbacks import Rollbacks, counted
from core.settings import Settings
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.marks import Mark
from core.timeline.opening import seed_of
from core.timeline.timeline import Timeline

# No text and no names; one line each of prompt, command and error; all text.
Level = Literal["strict", "excerpts", "transcript"]

_EXCERPT = 400
_TRANSCRIPT = 4000
_SUFFIX = 6  # Maximum length of a file suffix in a strict export.
_WORDLESS = {
    "needs you": "it is waiting for an answer",
    "may need you": "it may be waiting for an answer or permission",
    "looping": "repeats itself without progress",
    "stuck": "keeps failing",
    "gave up": "says that it could not do it",
    "idle": "nothing has happened for a while",
    "done": "finished its turn",
    "ended": "the session is over",
    "unreadable": "the log cannot be read",
}


class Privacy:
    """How much of text and names is shown; strict mode replaces every name by a number."""

    def __init__(self, level: Level = "excerpts") -> None:
        self.level: Level = level
        self.words = level != "strict"
        self.longest = _TRANSCRIPT if level == "transcript" else _EXCERPT
        self._paths: dict[str, str] = {}
        self._agents: dict[str, str] = {kinds.MAIN: kinds.MAIN}

    def path(self, path: str) -> str:
        """Return a path, or a number with its suffix."""
        if self.words:
            return path
        replacement = self._paths.get(path)
        if replacement is None:
            suffix = PurePosixPath(path).suffix
            shown_suffix = suffix if suffix[1:].isalnum() and suffix.isascii() and len(suffix) <= _SUFFIX else ""
            replacement = self._paths[path] = f"file-{len(self._paths) + 1}{shown_suffix}"
        return replacement

    def agent(self, agent: str) -> str:
        """Return an agent's name, or a number."""
        if self.words:
            return agent
        return self._agents.setdefault(agent, f"sub-agent-{len(self._agents)}")

    def tool(self, use: kinds.ToolUse) -> str:
        """Return tool and program, or only the kind of call."""
        if self.words:
            return f"{use.tool or use.action} {use.program}".strip()
        return " ".join(part for part in (use.action.replace("_", " "), use.purpose) if part)

    def name(self, name: str) -> str:
        """Return a name if names are shown."""
        return name if self.words else ""

    def status(self, status: Status) -> Status:
        """Return a status whose reason quotes nothing if text is left out."""
        return status if self.words else replace(status, why=_WORDLESS.get(status.word, ""), words="")

    def marks(self, marks: Iterable[Mark]) -> list[Mark]:
        """Return marks with agents' names as they may be shown."""
        if self.words:
            return list(marks)
        nameless = (mark._replace(name="agent") if mark.kind == "agent" else mark for mark in marks)
        return [mark._replace(agent=self.agent(mark.agent)) for mark in nameless]


class Spoken(NamedTuple):
    """The text of an event: of a prompt or turn its words, of a tool use its call and result."""

    text: str = ""
    result: str = ""


SILENT = Spoken()


class SessionWords:
    """The words of a session's events, cut to a length."""

    def __init__(self, session: LogSession, longest: int) -> None:
        self._reader = WordReader(word_logs(session))
        self._longest = longest

    def of(self, event: kinds.Event) -> Spoken:
        """Return the text of one event; empty if it has none or the log is gone."""
        words = self._reader.words(event)
        if isinstance(event, kinds.ToolUse):
            return Spoken(cut_to(words.command, self._longest), cut_to(words.output, self._longest))
        return Spoken(cut_to(words.said, self._longest)) if words.said else SILENT


def cut_to(text: str, longest: int) -> str:
    """Return the text cut to a length."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


_NAME = 160  # Characters of a name or path at most.


class Moment(NamedTuple):
    """One event, and the readings after it."""

    at: float  # Never before that of an earlier moment.
    agent: str
    kind: str
    what: str  # The event in a few words without content.
    outcome: kinds.Outcome | None
    duration: float | None
    axes: tuple[float, ...]  # Of the event's own agent.
    state: str
    regime: str
    status: Status
    context: float  # Share of the way to compaction, of the main agent.
    cost: float  # US dollars so far.
    asked: int  # The place of the person's prompt that counts; -1 for none.
    spoken: Spoken


class ExportedSession(NamedTuple):
    """Everything that is exported of a session."""

    summary: Summary
    events: Sequence[kinds.Event]
    moments: Sequence[Moment]
    marks: Sequence[Mark]
    ending: Status  # Its status long after its last event.
    privacy: Privacy


def film(
    session: LogSession,
    events: Sequence[kinds.Event],
    settings: Settings,
    privacy: Privacy,
    initial: InitialState = PLAIN,
) -> ExportedSession:
    """Run a session's events, and read the words that may be shown."""
    words = SessionWords(session, privacy.longest) if privacy.words else None
    timeline = Timeline(settings, initial=initial._replace(seed=seed_of(session.id)))
    history = StatusHistory(timeline, settings.response.notices.final)
    history.endings.allow(word_logs(session))
    gatherer = Gatherer()
    limits = Limits.of(settings)
    moments: list[Moment] = []
    facts_at: list[StatusFacts] = []
    cost = 0.0
    rollbacks = Rollbacks()
    unknown = status_of(StatusFacts(), 0.0, limits)
    events = list(counted(events))
    for event in events:
        step = timeline.add(event)
        gatherer.add(event, step)
        rollbacks.step(event)
        if isinstance(event, kinds.Turn):
            cost += event.cost or 0.0
        at, facts = timeline.time_of(len(timeline)), history.facts(len(timeline), timeline.society)
        facts_at.append(facts)
        use = event if isinstance(event, kinds.ToolUse) else None
        story = timeline.society.engine(event.agent).story(step)
        moments.append(
            Moment(
                at=at,
                agent=privacy.agent(event.agent),
                kind=str(event.__struct_config__.tag),
                what=one_line(what(event, privacy), _NAME),
                outcome=use.outcome if use else None,
                duration=use.duration if use else None,
                axes=step.percept.axes,
                state=story.state,
                regime=story.regime,
                status=unknown,
                context=facts.context,
                cost=cost,
                asked=rollbacks.standing[-1][0] if rollbacks.standing else -1,
                spoken=SILENT if words is None else _new(words.of(event), event),
            )
        )
    summary = gatherer.close(timeline.society.frame(kinds.MAIN))
    summary.id, summary.agent = summary.id or session.id, summary.agent or session.tool
    if privacy.words:
        kit, lines = make_kit(settings.ingest), settings.ingest.lines
        outcome = read_outcome(session, events, kit, lines).at(len(events))
        summary.outcome = outcome_with_fates(outcome, summary.project, session.id, events[0].at) if events else outcome
    for index, facts in enumerate(facts_at, 1):
        ended = index == len(facts_at)
        status = history.status(facts, index, moments[index - 1].at, limits, ended=ended)
        moments[index - 1] = moments[index - 1]._replace(status=privacy.status(status))
    ending = moments[-1].status if moments else unknown
    return ExportedSession(summary, events, moments, privacy.marks(timeline.marks), ending, privacy)


def _new(words: Spoken, event: kinds.Event) -> Spoken:
    """Drop a call's text if it only repeats the file name."""
    if isinstance(event, kinds.ToolUse) and event.targets and words.text.endswith(event.targets[0]):
        return words._replace(text="") if "\n" not in words.text and " " not in words.text else words
    return words


def what(event: kinds.Event, privacy: Privacy) -> str:
    """Describe an event by names and sizes, without content."""
    match event:
        case kinds.ToolUse():
            parts = [privacy.tool(event), *(privacy.path(target) for target in event.targets[:2])]
            return " ".join(part for part in parts if part)
        case kinds.Prompt():
            return "you stopped it" if event.interrupt else f"you asked ({event.characters:,} characters)"
        case kinds.Turn():
            who = privacy.name(event.model) or "the model"
            return f"{who} answered, {token_amount(event.output_tokens)} tokens"
        case kinds.Compaction():
            before, after = token_amount(event.tokens_before), token_amount(event.tokens_after)
            return f"context compacted, {before} to {after} tokens"
        case kinds.Advice():
            return f"nooscope advised it ({event.characters:,} characters)"
        case kinds.AgentStart():
            return f"sub-agent {privacy.agent(event.child)} starts"
        case kinds.AgentEnd():
            return f"sub-agent {privacy.agent(event.child)} ends: {event.outcome}"
        case kinds.Rollback():
            return about(event)[0]
        case kinds.SessionStart():
            return f"{event.tool} starts"
        case kinds.SessionEnd():
            return "the session ends"
