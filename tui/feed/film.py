"""A recording, and what is needed to show any place of it."""

from __future__ import annotations

from collections.abc import Sequence

from core.engine import Step
from core.events import Event
from core.report.spending import Spending
from core.timeline.timeline import Timeline
from tui.feed.frames import Sights
from tui.feed.playhead import Playhead
from tui.feed.standing import standing_at
from tui.feed.subject import Subjects, tokens_a_minute
from tui.feed.view import Subject, View


class Film:
    """One recording, whose it is, and the views of it."""

    def __init__(self, timeline: Timeline, subject: Subject, stretch: float) -> None:
        self.timeline = timeline
        self._sights = Sights(timeline)
        self._subjects = Subjects(subject)
        self._spending = Spending(timeline.events)
        self._stretch = stretch
        for count, event in enumerate(timeline.events, 1):
            self._subjects.add(count, event)

    def __len__(self) -> int:
        return len(self.timeline)

    def add(self, event: Event) -> Step:
        """Record one event."""
        timeline = self.timeline
        step = timeline.add(event)
        self._subjects.add(len(timeline), event)
        return step

    def view(
        self, head: Playhead, agent: str, now: float | None, held: Sequence[Event] = (), read: float = 1.0
    ) -> View:
        """What is to be seen at the playhead; `now` lets the live edge decay to that moment.

        `held` are calls that the log has begun and not ended, `read` is the share of it that is known.
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
            index=index,
            total=total,
            start=timeline.events[0].at if total else 0.0,
            at=at,
            end=timeline.time_of(total),
            mode=head.mode,
            playing=head.playing,
            speed=head.speed,
            status=standing_at(timeline, index, sight, at, held, read),
            spent=self._spending.at(index, at),
            burn=tokens_a_minute(timeline.events, index, at, self._stretch, shown),
        )
