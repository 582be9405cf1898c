"""The entries a reader came past: their words and their lines, remembered for a while."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from core.agents.words import NOTHING, WordReader, Words
from core.events import Event, Turn
from core.timeline.timeline import Timeline
from tui.draw.line import Line
from tui.feed.view import View
from tui.widgets.common.timeline_cells import GLYPHS
from tui.widgets.transcript.entry import Entry, entry_lines

_REMEMBERED = 1024
_FIRED = frozenset(GLYPHS) - {"prompt", "compaction", "agent"}
"""Marks that say more than the entry itself."""


class Entries:
    """Lays entries out; words that are not known yet are asked for once."""

    def __init__(self) -> None:
        self.whole: set[int] = set()
        """Places of entries that are opened."""
        self._words: OrderedDict[int, Words] = OrderedDict()
        self._laid: OrderedDict[int, tuple[tuple[object, ...], list[Line]]] = OrderedDict()
        self._asked: set[int] = set()
        self._reader = WordReader(())

    def forget(self) -> None:
        """Another recording, or other logs."""
        self._words.clear()
        self._laid.clear()
        self._asked.clear()

    def reader(self, view: View) -> WordReader:
        """A reader of the session's own logs; of none while words are hidden."""
        logs = view.word_logs if view.words else ()
        if self._reader.logs != logs:
            self._reader = WordReader(logs)
            self.forget()
        return self._reader

    def lay(self, recording: Timeline, place: int, view: View, width: int) -> list[Line]:
        """The lines of an entry."""
        fired = [mark for mark in recording.marks.between(place, place + 1) if mark.kind in _FIRED]
        event = recording.events[place]
        words, whole = self._words.get(place), place in self.whole
        if words is None and not self._is_readable(event):
            words = NOTHING
        key = (width, whole, words is None, view.words, len(fired), view.start, view.agents[0])
        laid = self._laid.get(place)
        if laid is not None and laid[0] == key:
            return laid[1]
        lines = entry_lines(Entry(event, words, fired, whole), view, width)
        self._laid[place] = key, lines
        if len(self._laid) > _REMEMBERED:
            self._laid.popitem(last=False)
        return lines

    def _is_readable(self, event: Event) -> bool:
        return self._reader.inside(event.said if isinstance(event, Turn) else event.where)

    def missing(self, recording: Timeline, places: Iterable[int]) -> list[int]:
        """Those of the places whose words are neither known nor asked for; they now are."""
        wanted = [
            place
            for place in places
            if place not in self._words
            and place not in self._asked
            and self._is_readable(recording.events[place])
        ]
        self._asked.update(wanted)
        return wanted

    def take(self, found: Mapping[int, Words]) -> None:
        """Words that were asked for."""
        self._asked.difference_update(found)
        self._words.update(found)
        while len(self._words) > _REMEMBERED:
            self._words.popitem(last=False)
