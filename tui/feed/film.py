"""A recording, and what is needed to show any place of it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from core.engine.receptor.readings import Why
from core.engine.society import Society, SocietyReading
from core.engine.society.engine import Frame
from core.events import MAIN, AgentEnd, AgentStart, Compaction, Event, SessionStart, Turn
from core.live.source import Source, Target
from core.live.status import Limits, Open, StatusFacts
from core.live.status_facts import StatusHistory
from core.logs.session import LogSession
from core.report.agents import agent_names
from core.report.compaction import Preserved, context_after, preserve_at, with_context_after
from core.report.cost import Spending
from core.settings import Settings
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.opening import last_screen
from core.timeline.timeline import Timeline
from tui.feed.view import Subject, View
from tui.feed.viewpoint import Playhead

_KEPT = 64
_BACK = 8  # Frames made on the way to one that lies a little before the last.


class Sight(NamedTuple):
    """All that is to be read from the minds at one moment."""

    frame: Frame
    people: SocietyReading
    why: Sequence[Why]
    agents: tuple[str, ...]
    # What its status follows from, open calls left out; not at the live edge, where the log tells more.
    facts: StatusFacts | None = None


class Sights:
    """Everything to be seen of one recording."""

    def __init__(self, timeline: Timeline, history: StatusHistory | None = None) -> None:
        self.timeline = timeline
        self._history = history or StatusHistory(timeline, timeline.settings.response.notices.final)
        self._kept: dict[tuple[int, str], Sight] = {}
        self._last = 0

    def live(self, at: float, agent: str) -> Sight:
        """At the live edge, decayed to a moment."""
        return _sight(self.timeline.society, agent, at)

    def at(self, index: int, agent: str, later: float = 0.0) -> Sight:
        """Return the sights after the first `index` events and some further seconds."""
        if later > 0.0:
            moment = self.timeline.time_of(index) + later
            return self._sight(index, self.timeline.society_at(index), agent, moment)
        sight = self._kept.get((index, agent))
        if sight is None:
            first = index
            if 0 < self._last - index <= 4 * _BACK:
                first = max(0, index - _BACK)
            for place in range(first, index + 1):
                sight = self._sight(place, self.timeline.society_at(place), agent)
                self._keep(place, agent, sight)
        self._last = index
        assert sight is not None  # noqa: S101
        return sight

    def _keep(self, index: int, agent: str, sight: Sight) -> None:
        if index == len(self.timeline):
            return
        self._kept[index, agent] = sight
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]

    def _sight(self, index: int, society: Society, agent: str, at: float | None = None) -> Sight:
        return _sight(society, agent, at)._replace(facts=self._history.facts(index, society))


def _sight(society: Society, agent: str, at: float | None) -> Sight:
    who = agent if agent in society.agents else MAIN
    receptor = society.engine(who).receptor
    return Sight(frame=society.frame(who, at), people=society.read(), why=receptor.explain(at), agents=society.agents)


_MOST = 4000  # Events looked back over at most.


class Subjects:
    """The subject as it was after any event; only its changes are kept."""

    def __init__(self, subject: Subject) -> None:
        self._places = [0]
        self._known = [subject]

    def add(self, count: int, event: Event) -> None:
        """Take in the event that makes the recording `count` long."""
        last = self._known[-1]
        if isinstance(event, Turn) and event.model and event.agent == MAIN:
            subject = replace(last, model=event.model)
        elif isinstance(event, SessionStart) and event.agent == MAIN:
            names = ("session", "tool", "project", "model")
            known = {name: getattr(event, name) or getattr(last, name) for name in names}
            subject = replace(last, **known, synthetic_time=event.synthetic_time, untold=event.untold)
        else:
            return
        if subject != last:
            self._places.append(count)
            self._known.append(subject)

    def at(self, index: int) -> Subject:
        """The subject after the first `index` events; before any, what is known of it now."""
        if index == 0 and len(self._known) > 1:
            return self._known[1]
        return self._known[bisect_right(self._places, index) - 1]


def tokens_a_minute(events: Sequence[Event], index: int, at: float, stretch: float, agent: str) -> float:
    """Tokens an agent newly sent and received in the `stretch` seconds before a moment, a minute."""
    tokens = 0
    for place in range(index - 1, max(-1, index - 1 - _MOST), -1):
        event = events[place]
        if event.at < at - stretch:
            break
        if isinstance(event, Turn) and event.agent == agent:
            tokens += event.input_tokens + event.cache_write + event.output_tokens
    return tokens * 60.0 / stretch


class Film:
    """One recording, whose it is, and the views of it."""

    def __init__(self, timeline: Timeline, subject: Subject, stretch: float) -> None:
        self.timeline = timeline
        self._history = StatusHistory(timeline, timeline.settings.response.notices.final)
        self._sights = Sights(timeline, self._history)
        self._subjects = Subjects(subject)
        self._spending = Spending(timeline.events)
        self._stretch = stretch
        self._preserved: tuple[tuple[int, str], Preserved] | None = None
        self._cuts: dict[str, list[int]] = {}  # Where each agent's context was cut.
        self._names: dict[str, str] | None = None  # What each agent is called, until another one comes.
        for count, event in enumerate(timeline.events, 1):
            self.step(count, event)

    def __len__(self) -> int:
        return len(self.timeline)

    def allow(self, logs: Sequence[Path]) -> None:
        """Let the last words of turns be read from these logs."""
        self._history.endings.allow(logs)

    def add(self, event: Event) -> None:
        """Record one event."""
        self.timeline.add(event)
        self.step(len(self.timeline), event)

    def step(self, count: int, event: Event) -> None:
        """Take in the event that made the recording `count` long."""
        self._subjects.add(count, event)
        if isinstance(event, AgentStart | AgentEnd) or event.agent not in (self._names or ()):
            self._names = None
        if isinstance(event, Compaction):
            self._cuts.setdefault(event.agent, []).append(count - 1)

    def view(
        self, head: Playhead, agent: str, now: float | None, waiting: Sequence[Open] = (), pending: Sequence[Event] = ()
    ) -> View:
        """Return the view at the playhead; `now` lets the live edge decay to that moment.

        At that edge neither status nor cost is known from the recording alone; `waiting` are calls that the
        log has not answered yet, `held` is all it has begun and not ended.
        """
        timeline, total = self.timeline, len(self.timeline)
        index = min(head.index, total)
        if now is not None and index == total:
            sight = self._sights.live(now, agent)
            at = sight.frame.at
        else:
            sight = self._sights.at(index, agent, head.ahead)
            at = timeline.time_of(index) + head.ahead
        agent_shown, status = sight.frame.agent, None
        if sight.facts is not None:
            limits, ended = Limits.of(timeline.settings), head.mode == "replay" and index == total
            status = self._history.status(sight.facts, index, at, limits, waiting=waiting, ended=ended)
        return View(
            frame=sight.frame,
            people=sight.people,
            why=sight.why,
            subject=self._subjects.at(index),
            agent=agent_shown,
            agents=sight.agents,
            names=self._called(),
            index=index,
            total=total,
            start=timeline.events[0].at if total else 0.0,
            at=at,
            end=timeline.time_of(total),
            mode=head.mode,
            playing=head.playing,
            speed=head.speed,
            status=status,
            spent=self._spending.at(index, at, pending),
            preserved=self._preserved_at(index, agent_shown),
            burn=tokens_a_minute(timeline.events, index, at, self._stretch, agent_shown),
        )

    def _called(self) -> dict[str, str]:
        if self._names is None:
            self._names = agent_names(self.timeline.society.read().agents)
        return self._names

    def _preserved_at(self, index: int, agent: str) -> Preserved | None:
        """Return the state at the agent's last compaction before a place; computed once for each."""
        cuts = self._cuts.get(agent, [])
        number = bisect_left(cuts, index) - 1
        if number < 0:
            return None
        cut = cuts[number]
        if self._preserved is None or self._preserved[0] != (cut, agent):
            self._preserved = (cut, agent), preserve_at(self.timeline, cut)
        preserved = self._preserved[1]
        if not preserved.tokens_after and (after := context_after(self.timeline, cut, agent)):
            preserved = with_context_after(preserved, after)
            self._preserved = (cut, agent), preserved
        return preserved


def subject_of(session: LogSession | None, target: Target) -> Subject:
    """Return what is known of a session before its first event."""
    if session is None:
        return Subject(path=str(target.path))
    return Subject(session=session.id, tool=session.tool, path=str(session.path))


def ending(source: Source, target: Target, settings: Settings, initial: InitialState = PLAIN) -> Film | None:
    """The end of a long log as a film of its own, to look at while all of it is read."""
    tail = int(settings.screen.tail * 1_000_000)
    if source.session is None or not 0 < 2 * tail < source.size:
        return None
    timeline = last_screen(source.session, settings, source.kit, tail, initial)
    return Film(timeline, subject_of(source.session, target), settings.screen.burn)
