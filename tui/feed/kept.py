"""The bookmarks of the session on the screen: brought, set, taken away, and told."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from core.errors import StoreError
from core.report.formatting import clock, plain
from core.report.recap import work_centre
from core.store.bookmarks import Bookmarks
from core.store.labels import Labels
from core.store.trails import TrailStore
from core.timeline.checkpoints import Checkpoints
from core.timeline.timeline import Timeline
from tui.feed.messages import Bookmarked, Failed, Noticed


class Shelf:
    """Empty until it is known whose bookmarks they are."""

    def __init__(
        self,
        make: Callable[[str], Bookmarks],
        post: Callable[[Message], object],
        wall: Callable[[], float],
    ) -> None:
        self._make = make
        self._post = post
        self._wall = wall
        self._kept: Bookmarks | None = None

    @property
    def labels(self) -> Labels | None:
        """What people said of the session's firings, kept beside its bookmarks."""
        kept = self._kept
        return None if kept is None else Labels(folder=kept.folder, key=kept.key)

    @property
    def trail(self) -> TrailStore | None:
        """Where the person's moves through the session are kept."""
        kept = self._kept
        return None if kept is None else TrailStore(folder=kept.folder, key=kept.key)

    def open(self, session: str) -> None:
        """Bring a session's bookmarks, once."""
        if self._kept is None:
            self._kept = self._make(session)
            self.tell()

    def toggle(self, timeline: Timeline, place: int, name: str = "", note: str = "") -> None:
        """Set one at a place with its state, or take away the one that stands there."""
        kept = self._kept
        if kept is None or not len(timeline):
            return
        try:
            standing = [mark for mark in kept.read() if mark.place == place]
            checkpoints = Checkpoints(kept, timeline.settings.timeline.checkpoints.kept)
            for mark in standing:
                checkpoints.remove(mark.name)
            if not standing:
                name = name or f"event {place} at {clock(timeline.time_of(place) - timeline.events[0].at)}"
                note = note or _what_stands(timeline, place)
                checkpoints.make(timeline, place, name, note, created=self._wall())
        except StoreError as error:
            self._post(Failed(str(error)))
        self.tell()

    def back(self, timeline: Timeline, name: str) -> int | None:
        """The place of a bookmark, once the state there was checked; None where there is none to go to."""
        if self._kept is None:
            return None
        checkpoints = Checkpoints(self._kept, timeline.settings.timeline.checkpoints.kept)
        try:
            found = checkpoints.back(timeline, name)
        except StoreError as error:
            self._post(Failed(str(error)))
            return None
        kind = "done" if found.standing == "same" else "risk"
        self._post(
            Noticed(kind, f"Back at {plain(name, 60)}", found.words[:1].upper() + found.words[1:] + ".")
        )
        return None if found.standing == "gone" else found.bookmark.place

    def tell(self) -> None:
        """Show what is kept."""
        kept = self._kept
        if kept is None:
            return
        try:
            self._post(Bookmarked(kept.read()))
        except StoreError as error:
            self._post(Failed(str(error)))
        for notice in kept.notices:
            self._post(Failed(notice))
        kept.notices.clear()


def _what_stands(timeline: Timeline, place: int) -> str:
    """What the main agent is at, for a note nobody wrote."""
    receptor = timeline.at(place).receptor
    centre = work_centre(receptor.heatmap)
    words = f"{receptor.meta.state}, {receptor.behaviour.short.pattern}".replace("_", " ")
    return f"{words}, in {centre.path}" if centre is not None else words
