"""Which prompts of a session still count, and which the person took back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from pathlib import PurePath

from msgspec.structs import replace

from core.events import MAIN, Event, Prompt, Rollback, Where


class Rollbacks:
    """The prompts of one agent that still count, and what became of the others."""

    def __init__(self, agent: str = MAIN) -> None:
        self._agent = agent
        self._count = 0
        self.standing: list[tuple[int, Where | None]] = []  # Places of the prompts that count, oldest first.
        self.dropped: dict[int, int] = {}  # The places of prompts that were taken back, and of the rollback.

    def grow(self, events: Sequence[Event]) -> None:
        """Take in what a recording took in since."""
        for place in range(self._count, len(events)):
            self.step(events[place])

    def step(self, event: Event) -> int:
        """Take in the next event, and return how many prompts it takes back."""
        place = self._count
        self._count += 1
        if event.agent != self._agent:
            return 0
        if type(event) is Prompt and not event.interrupt:
            self.standing.append((place, event.where))
        if type(event) is not Rollback:
            return 0
        keeps = self._keeps(event)
        taken_back, self.standing = self.standing[keeps:], self.standing[:keeps]
        self.dropped.update((one, place) for one, _ in taken_back)
        return len(taken_back)

    def is_dropped(self, place: int, index: int) -> bool:
        """Whether the prompt at a place was taken back by one of the first `index` events."""
        return self.dropped.get(place, index) < index

    def forgotten(self, events: Sequence[Event]) -> Iterator[tuple[str, int, float]]:
        """Yield the stretches of logs that the agent forgot: the file, where it begins, and where it ends."""
        self.grow(events)
        for place, rollback in self.dropped.items():
            where, back = events[place].where, events[rollback].where
            if where is None or back is None:
                continue
            places = (events[before].where for before in range(place - 1, -1, -1))
            begin = next((one.offset + one.length for one in places if one is not None and one.file == where.file), 0)
            yield where.file, begin, back.offset if back.file == where.file else inf

    def _keeps(self, event: Rollback) -> int:
        """Return how many prompts count after a rollback."""
        if event.kept is None:
            return max(0, len(self.standing) - event.turns)
        last: int | None = None
        for number, (_, where) in enumerate(self.standing):
            if where is not None and PurePath(where.file).name.partition(".")[0].endswith(event.kept.file):
                if where.offset >= event.kept.offset:
                    return number
                last = number
        return len(self.standing) if last is None else last + 1


def counted(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the events, with the number of prompts that each rollback took back."""
    rollbacks = Rollbacks()
    for event in events:
        taken_back = rollbacks.step(event)
        yield replace(event, turns=taken_back, kept=None) if type(event) is Rollback else event
