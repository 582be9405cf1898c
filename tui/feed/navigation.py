"""A person's moves through the session on the screen: recorded, kept, and what changed before a return."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from core.errors import StoreError
from core.report.chrono import NO_SUMMARY, ChronoNav, SummaryPolicy
from core.report.formatting import count
from core.settings.timeline import NavigationSettings
from core.store.trails import TrailStore
from core.timeline.timeline import Timeline
from tui.feed.messages import Failed, Noticed

_SAVED = 5.0
"""Seconds between two writes while a person moves about."""
_LINES = 6


class Navigator:
    """Every move goes through one ChronoNav; used by the feed's thread alone."""

    def __init__(self, settings: NavigationSettings, post: Callable[[Message], object]) -> None:
        self._settings = settings
        self._post = post
        self._nav: ChronoNav | None = None
        self._store: TrailStore | None = None
        self._left: int | None = None
        """Events there were when the person left the live edge."""
        self._unsaved = False
        self._saved_at = 0.0

    def open(self, timeline: Timeline, store: TrailStore) -> None:
        """Go on from the moves of earlier visits; a record that was tampered with is set aside, and told."""
        if self._store is not None:
            return
        self._store = store
        self._nav = nav = ChronoNav(timeline, kept=self._settings.kept)
        try:
            nav.trail.load(store.read())
        except StoreError as error:
            self._post(Failed(str(error)))
            try:
                self._post(Failed(f"it was set aside as {store.set_aside()}; a new one begins"))
            except StoreError as trouble:
                self._store = None
                self._post(Failed(str(trouble)))

    def moved(
        self,
        timeline: Timeline,
        origin: int,
        place: int,
        at: float,
        *,
        told: bool = False,
        live: bool = False,
    ) -> None:
        """Record a move; a return says what lies between, and one to the live edge what came meanwhile."""
        nav = self._nav
        left, self._left = self._left, None if live else (self._left or len(timeline))
        if nav is None or (origin == place and not (live and left is not None)):
            return
        nav.timeline = timeline
        policy = SummaryPolicy(self._settings.summary, self._settings.tokens)
        came = len(timeline) - left if live and left is not None else 0
        if came > 0 and left is not None:
            nav.move(origin, left, at)
            origin = left
        summary = nav.move(origin, place, at, policy if told or came > 0 else NO_SUMMARY)
        self._unsaved = True
        if summary and (told or came > 0):
            title = f"Meanwhile: {count(came, 'event')}" if came > 0 else "In between"
            self._post(Noticed("done", title, "\n".join(summary[:_LINES])))

    def save(self, now: float, *, at_once: bool = False) -> None:
        """Write the moves down, at most every few seconds."""
        nav, store = self._nav, self._store
        if (
            not self._unsaved
            or nav is None
            or store is None
            or not (at_once or now - self._saved_at >= _SAVED)
        ):
            return
        self._unsaved, self._saved_at = False, now
        try:
            store.write(nav.trail.dump())
        except StoreError as error:
            self._post(Failed(str(error)))
