"""The bookmarks of the session on the screen: brought, set, taken away, and told."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from core.errors import StoreError
from core.report.formatting import clock, plain
from core.report.recap import hottest_branch
from core.store.bookmarks import Bookmarks, LastLook, Look, TrailStore
from core.store.labels import Labels
from core.timeline.checkpoints import Checkpoints
from core.timeline.timeline import Timeline
from tui.feed.messages import Bookmarked, Failed, LookedBefore, Noticed, RemoveBookmark, SetBookmark

_NAME = 60
"""Characters of a name one types."""


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

    def look_back(self, events: int) -> None:
        """Tell how far the session, of so many events now, had been seen before."""
        look = None if self._kept is None else LastLook(self._kept.folder, self._kept.key).read()
        if look is not None:
            self._post(LookedBefore(look, max(0, events - look.events)))

    def leave(self, events: int) -> None:
        """Remember how far it is seen now."""
        if self._kept is not None:
            LastLook(self._kept.folder, self._kept.key).keep(Look(events, self._wall()))

    def answer(self, timeline: Timeline, asked: SetBookmark | RemoveBookmark) -> None:
        """Set or remove what a person asked for."""
        if isinstance(asked, SetBookmark):
            self.put(timeline, asked.place, asked.note)
        else:
            self.remove(timeline, asked.place)

    def put(self, timeline: Timeline, place: int, note: str) -> None:
        """Set one at a place, and say so."""
        kept = self._kept
        if kept is None or not 0 <= place <= len(timeline) or not len(timeline):
            return
        at = timeline.time_of(place)
        named, split, rest = note.partition(": ")
        name = f"event {place} at {clock(at - timeline.events[0].at)}"
        if split and named.strip():
            name, note = named.strip()[:_NAME], rest.strip()
        note = note or _what_stands(timeline, place)
        try:
            checkpoints = Checkpoints(kept, timeline.settings.timeline.checkpoints.kept)
            made = checkpoints.make(timeline, place, name, note, created=self._wall())
        except StoreError as error:
            self._post(Failed(str(error)))
        else:
            words = f"{name}{f': {note}' if note else ''}\nstate {made.checkpoint[:12]} is kept with it"
            self._post(Noticed("done", "Bookmark set", words))
        self.tell()

    def remove(self, timeline: Timeline, place: int) -> None:
        """Take away those that stand at a place, and say so."""
        kept = self._kept
        if kept is None:
            return
        try:
            standing = [mark for mark in kept.read() if mark.place == place]
            checkpoints = Checkpoints(kept, timeline.settings.timeline.checkpoints.kept)
            for mark in standing:
                checkpoints.remove(mark.name)
        except StoreError as error:
            self._post(Failed(str(error)))
        else:
            for mark in standing:
                self._post(Noticed("done", "Bookmark removed", plain(mark.name, 60)))
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
    frame = timeline.at(place)
    receptor = frame.receptor
    centre = hottest_branch(receptor.heatmap)
    words = f"{frame.story.state}, {receptor.behaviour.short.pattern}".replace("_", " ")
    return f"{words}, in {centre.path}" if centre is not None else words
