"""A recording, and what is needed to show any place of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from core.engine import Step
from core.events import AgentEnd, AgentStart, Compaction, Event
from core.live.source import Source, Target
from core.live.status import Limits, Open
from core.live.status_history import StatusHistory
from core.logs.session import LogSession
from core.report.agents import agent_names
from core.report.compaction import Preserved, context_after, preserve_at, with_context_after
from core.report.spending import Spending
from core.settings import Settings
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.opening import last_screen
from core.timeline.timeline import Timeline
from tui.feed.frames import Sights
from tui.feed.playhead import Playhead
from tui.feed.subject import Subjects, tokens_a_minute
from tui.feed.view import Subject, View


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
        self._cuts: dict[str, list[int]] = {}
        """Where each agent's context was cut."""
        self._names: dict[str, str] | None = None
        """What each agent is called, until another one comes."""
        for count, event in enumerate(timeline.events, 1):
            self._take(count, event)

    def __len__(self) -> int:
        return len(self.timeline)

    def add(self, event: Event) -> Step:
        """Record one event."""
        step = self.timeline.add(event)
        self.added(event)
        return step

    def added(self, event: Event) -> None:
        """Take note of an event that the recording has just taken in."""
        self._take(len(self.timeline), event)

    def _take(self, count: int, event: Event) -> None:
        self._subjects.add(count, event)
        if isinstance(event, AgentStart | AgentEnd) or event.agent not in (self._names or ()):
            self._names = None
        if isinstance(event, Compaction):
            self._cuts.setdefault(event.agent, []).append(count - 1)

    def view(
        self,
        head: Playhead,
        agent: str,
        now: float | None,
        waiting: Sequence[Open] = (),
        held: Sequence[Event] = (),
    ) -> View:
        """What is to be seen at the playhead; `now` lets the live edge decay to that moment.

        At that edge neither status nor cost is known from the recording alone; `waiting` are calls that the
        log has not answered yet, `held` is all it has begun and not ended.
        """
        timeline = self.timeline
        index, total = min(head.index, len(timeline)), len(timeline)
        if now is not None and index == total:
            sight = self._sights.live(now, agent)
            at = sight.frame.at
        else:
            sight = self._sights.at(index, agent, head.ahead)
            at = timeline.time_of(index) + head.ahead
        shown = sight.frame.agent
        return View(
            frame=sight.frame,
            people=sight.people,
            why=sight.why,
            subject=self._subjects.at(index),
            agent=shown,
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
            status=None
            if sight.facts is None
            else self._history.status(
                sight.facts,
                index,
                at,
                Limits.of(timeline.settings),
                waiting=waiting,
                ended=head.mode == "replay" and index == total,
            ),
            spent=self._spending.at(index, at, held),
            preserved=self._preserved_at(index, shown),
            burn=tokens_a_minute(timeline.events, index, at, self._stretch, shown),
        )

    def _called(self) -> dict[str, str]:
        if self._names is None:
            self._names = agent_names(self.timeline.society.read().agents)
        return self._names

    def _preserved_at(self, index: int, agent: str) -> Preserved | None:
        """What stood at the agent's last compaction before a place; made once for each."""
        cuts = self._cuts.get(agent, [])
        number = bisect_left(cuts, index) - 1
        if number < 0:
            return None
        cut = cuts[number]
        if self._preserved is None or self._preserved[0] != (cut, agent):
            self._preserved = (cut, agent), preserve_at(self.timeline, cut)
        made = self._preserved[1]
        if not made.tokens_after and (after := context_after(self.timeline, cut, agent)):
            made = with_context_after(made, after)
            self._preserved = (cut, agent), made
        return made


def subject_of(session: LogSession | None, target: Target) -> Subject:
    """What is known of a session before its first event."""
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
