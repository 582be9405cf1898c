"""Minds at work, and what they leave behind for drawing and jumping."""

from __future__ import annotations

from core.engine.engine import Step
from core.engine.society import Society
from core.events import Event
from core.timeline.marks import Marks
from core.timeline.said_texts import SaidText, SaidTexts
from core.timeline.track import Track


class Run:
    """A society that is stepped, its agents' tracks, the marks, and what methods said."""

    __slots__ = ("_said", "marks", "origin", "society", "texts_from", "tracks")

    def __init__(self, society: Society, origin: float | None = None) -> None:
        self.society = society
        self.origin = origin
        """Time the tracks count from; the first event's where none is given."""
        self.tracks: dict[str, Track] = {}
        self.marks = Marks()
        self._said = SaidTexts()
        self.texts_from = 0
        """Place from which on that is known."""

    def step(self, place: int, event: Event) -> Step:
        """Take in the event at one place of the recording."""
        step = self.society.step(event)
        if self.origin is None:
            self.origin = event.at
        agent = event.agent
        track = self.tracks.get(agent)
        if track is None:
            track = self.tracks[agent] = Track(self.origin)
        track.add(place, step, self.society.engine(agent))
        self.marks.note(place, event, step)
        for firing in step.reaction.fired:
            self._said.append(SaidText(place, firing.method, firing.text))
        return step

    def head(self, place: int, society: Society) -> Run:
        """The run of the first `place` events, which goes on with these minds."""
        made = Run(society, self.origin)
        tracks = {agent: track.head(place) for agent, track in self.tracks.items()}
        made.tracks = {agent: track for agent, track in tracks.items() if len(track)}
        made.marks, made.texts_from = self.marks.head(place), min(self.texts_from, place)
        made._said = SaidTexts([said for said in self._said if said.place < place])
        return made

    @property
    def texts(self) -> dict[tuple[int, str], str]:
        """What each method said, by place and name; gathered when asked."""
        return {(place, method): text for place, method, text in self._said}
