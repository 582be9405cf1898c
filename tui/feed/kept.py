"""The bookmarks of the session on the screen: brought, set, taken away, and told."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from core.errors import StoreError
from core.report.formatting import clock
from core.store.bookmarks import Bookmark, Bookmarks
from core.store.labels import Labels
from core.timeline.timeline import Timeline
from tui.feed.messages import Bookmarked, Failed


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

    def open(self, session: str) -> None:
        """Bring a session's bookmarks, once."""
        if self._kept is None:
            self._kept = self._make(session)
            self._tell(self._kept)

    def toggle(self, timeline: Timeline, place: int) -> None:
        """Set one at a place, or take away the one that stands there."""
        kept = self._kept
        if kept is None or not len(timeline):
            return
        try:
            standing = [mark for mark in kept.read() if mark.place == place]
            for mark in standing:
                kept.remove(mark.name)
            if not standing:
                at = timeline.time_of(place)
                name = f"event {place} at {clock(at - timeline.events[0].at)}"
                kept.put(Bookmark(name=name, place=place, at=at, created=self._wall()))
        except StoreError as error:
            self._post(Failed(str(error)))
        self._tell(kept)

    def _tell(self, kept: Bookmarks) -> None:
        try:
            self._post(Bookmarked(kept.read()))
        except StoreError as error:
            self._post(Failed(str(error)))
        for notice in kept.notices:
            self._post(Failed(notice))
        kept.notices.clear()
