"""A saved session run once through the engine, as a reader elsewhere needs to see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.agents.registry import make_kit
from core.agents.words import WordReader, word_logs
from core.events import (
    MAIN,
    Advice,
    AgentEnd,
    AgentStart,
    Compaction,
    Event,
    Outcome,
    Prompt,
    SessionEnd,
    SessionStart,
    ToolUse,
    Turn,
)
from core.export.privacy import Privacy
from core.live.status import Limits, Status, StatusFacts, status_of
from core.live.status_facts import StatusHistory
from core.logs.redact.values import one_line
from core.logs.session import LogSession
from core.report.analysis import Gatherer, Summary
from core.report.git_data import outcome_with_fates
from core.report.outcome import read_outcome
from core.report.recap import token_amount
from core.settings import Settings
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.marks import Mark
from core.timeline.opening import seed_of
from core.timeline.timeline import Timeline


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

    def of(self, event: Event) -> Spoken:
        """Return the text of one event; empty if it has none or the log is gone."""
        words = self._reader.words(event)
        if isinstance(event, ToolUse):
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
    outcome: Outcome | None
    duration: float | None
    axes: tuple[float, ...]  # Of the event's own agent.
    state: str
    regime: str
    status: Status
    context: float  # Share of the way to compaction, of the main agent.
    cost: float  # US dollars so far.
    spoken: Spoken


class ExportedSession(NamedTuple):
    """Everything that is exported of a session."""

    summary: Summary
    events: Sequence[Event]
    moments: Sequence[Moment]
    marks: Sequence[Mark]
    ending: Status  # Its status long after its last event.
    privacy: Privacy


def film(
    session: LogSession, events: Sequence[Event], settings: Settings, privacy: Privacy, initial: InitialState = PLAIN
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
    unknown = status_of(StatusFacts(), 0.0, limits)
    for event in events:
        step = timeline.add(event)
        gatherer.add(event, step)
        if isinstance(event, Turn):
            cost += event.cost or 0.0
        at, facts = timeline.time_of(len(timeline)), history.facts(len(timeline), timeline.society)
        facts_at.append(facts)
        use = event if isinstance(event, ToolUse) else None
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
                spoken=SILENT if words is None else _new(words.of(event), event),
            )
        )
    summary = gatherer.close(timeline.society.frame(MAIN))
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


def _new(words: Spoken, event: Event) -> Spoken:
    """Drop a call's text if it only repeats the file name."""
    if isinstance(event, ToolUse) and event.targets and words.text.endswith(event.targets[0]):
        return words._replace(text="") if "\n" not in words.text and " " not in words.text else words
    return words


def what(event: Event, privacy: Privacy) -> str:
    """Describe an event by names and sizes, without content."""
    match event:
        case ToolUse():
            parts = [privacy.tool(event), *(privacy.path(target) for target in event.targets[:2])]
            return " ".join(part for part in parts if part)
        case Prompt():
            return "you stopped it" if event.interrupt else f"you asked ({event.characters:,} characters)"
        case Turn():
            who = privacy.name(event.model) or "the model"
            return f"{who} answered, {token_amount(event.output_tokens)} tokens"
        case Compaction():
            before, after = token_amount(event.tokens_before), token_amount(event.tokens_after)
            return f"context compacted, {before} to {after} tokens"
        case Advice():
            return f"nooscope advised it ({event.characters:,} characters)"
        case AgentStart():
            return f"sub-agent {privacy.agent(event.child)} starts"
        case AgentEnd():
            return f"sub-agent {privacy.agent(event.child)} ends: {event.outcome}"
        case SessionStart():
            return f"{event.tool} starts"
        case SessionEnd():
            return "the session ends"
