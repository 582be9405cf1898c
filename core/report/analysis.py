"""One saved session from log to summary."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from core.agents.words import WordReader, word_logs
from core.engine.engine import Step
from core.engine.society import Society
from core.events import MAIN, Compaction, Event
from core.logs.session import LogSession, read_session
from core.report.compaction import Preserver
from core.report.gatherer import Gatherer
from core.report.outcome import OutcomeReader
from core.report.story import story
from core.report.summary import Skipped, Summary
from core.settings import Settings
from core.store.kept_events import reading_kit
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.opening import seed_of
from core.timeline.timeline import SettingsChange, turned

_TOLD = 50_000
"""The last events that are told in words."""


class Analysis(NamedTuple):
    """What a session was, and one JSON line for each tick where they were asked for."""

    summary: Summary
    metrics: list[bytes]


def analyse(
    session: LogSession,
    settings: Settings,
    metrics: bool = False,
    initial: InitialState = PLAIN,
    later: Sequence[SettingsChange] = (),
    each: Callable[[Event, Step, Society], object] | None = None,
) -> Analysis:
    """Run a session through the minds of its agents, begun from its own seed; `each` sees every step."""
    kit = reading_kit(settings)
    begun = initial._replace(seed=seed_of(session.id))
    society = begun.society(settings)
    changes = deque(later)
    gatherer = Gatherer(str(session.path))
    lines: list[bytes] = []
    lately: deque[Event] = deque(maxlen=_TOLD)
    preserver, policy = Preserver(), ""
    outcome = OutcomeReader(WordReader(word_logs(session)))
    for place, event in enumerate(read_session(session, kit, settings.ingest.lines)):
        if changes:
            before, society = society, turned(begun, society, changes, place)
            policy = policy if society is before else ""
        if type(event) is Compaction:
            policy = policy or begun.policy_hash(society.settings)
        preserver.before(event, society, policy)
        step = society.step(event)
        gatherer.add(event, step)
        outcome.add(event)
        if each is not None:
            each(event, step, society)
        lately.append(event)
        if metrics and step.thought.rows:
            record = society.engine(event.agent).mind.heart.metrics.record
            lines += [msgspec.json.encode(record(row)) for row in step.thought.rows]
    society = turned(begun, society, changes, gatherer.summary.events)
    summary = gatherer.close(society.frame(MAIN))
    summary.id = summary.id or session.id
    summary.agent = summary.agent or session.tool
    summary.preserved = list(preserver.kept)
    summary.story = story(tuple(lately), summary.started, notices=settings.response.notices)
    outcome.read_links(session, kit, settings.ingest.lines)
    summary.outcome = outcome.at(summary.events)
    faults = kit.diagnostics
    summary.skipped = Skipped(
        faults.total,
        dict(sorted(faults.counts.items())),
        [f"{fault.file}:{fault.line}: {fault.reason}" for fault in faults.first[:20]],
    )
    return Analysis(summary, lines)
