"""Where in the recording one looks, and how that place moves."""

from __future__ import annotations

from collections.abc import Iterable

from core.events import Event
from core.settings.timeline import PlaySettings
from core.timeline.play import Player, Reel
from tui.feed.view import Mode


class Playhead:
    """Follows the newest event, holds still, or plays; told how much time went by, it has no clock."""

    def __init__(self, settings: PlaySettings, *, live: bool, playing: bool = False) -> None:
        self.live = live
        """More may come: the log is followed."""
        self.loading = True
        """What was there at the opening is still being read."""
        self.index = 0
        """Events before it."""
        self.following = not playing
        self._reel = Reel(settings.idle)
        self._player = Player(self._reel, settings.speed)
        self._player.playing = playing
        self._film = 0.0

    @property
    def total(self) -> int:
        """Events recorded so far."""
        return len(self._reel)

    @property
    def playing(self) -> bool:
        return self._player.playing

    @property
    def speed(self) -> float:
        return self._player.speed

    @property
    def mode(self) -> Mode:
        if not self.live:
            return "replay"
        return "live" if self.following else "replay" if self.playing else "paused"

    @property
    def ahead(self) -> float:
        """Seconds of film since the last event shown, while it plays."""
        return max(0.0, self._film - self._reel.place(self.index)) if self.playing else 0.0

    def grow(self, at: float) -> None:
        """One more event was recorded."""
        self._reel.add(at)
        if self.following:
            self.index = self.total

    def regrow(self, events: Iterable[Event]) -> None:
        """The recording has another order: measure it anew, and stay at the same place."""
        self._reel.clear()
        for event in events:
            self._reel.add(event.at)
        if self.following:
            self.index = self.total
        self._place()

    def seek(self, to: int) -> None:
        """Go to a place; the end of a log that is followed is where it goes on."""
        if to >= self.total and self.live:
            self.to_end()
            return
        self.following = False
        self.index = max(0, min(to, self.total))
        self._place()
        if not self.live and self.index == self.total and not self.loading:
            self._player.playing = False

    def step(self, by: int) -> None:
        """Go on or back by some events, and hold there; a step beyond the end follows on."""
        self._player.playing = False
        beyond = self.index + by > self.total and self.index == self.total
        to = max(0, min(self.index + by, self.total))
        self.following = beyond and self.live
        self.index = to
        self._place()

    def to_end(self) -> None:
        """Go to the newest event and stay there."""
        self._player.playing = False
        self.following = True
        self.index = self.total
        self._place()

    def toggle(self) -> None:
        """Pause or play; at the end of a saved log, play from the start."""
        if self.following and self.live:
            self.following = False
        elif self.playing:
            self._player.playing = False
        elif self.index >= self.total and self.live:
            self.to_end()
        else:
            self.following = False
            if self.index >= self.total and not self.loading:
                self.index = 0
            self._place()
            self._player.playing = True

    def faster(self, steps: int) -> None:
        """The next speed up (1) or down (-1)."""
        self._player.faster(steps)

    def advance(self, seconds: float) -> bool:
        """Let real time go by; whether anything moved."""
        if not self.playing:
            return False
        before = self._film
        self.index = self._player.advance(seconds)
        self._film = min(self._film + seconds * self.speed, self._reel.length)
        if not self.playing:
            if self.loading:
                self._player.playing = True
            elif self.live:
                self.to_end()
            return True
        return self._film != before

    def _place(self) -> None:
        self._player.seek(self.index)
        self._film = self._reel.place(self.index)
