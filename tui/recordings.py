"""Sessions named on the command line, as recordings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from core.errors import NooscopeError, UnreadableLog

if TYPE_CHECKING:
    from pathlib import Path

    from core.ingest.reader import Kit
    from core.ingest.session import LogSession
    from core.settings import Settings
    from core.timeline.cache import Cache
    from core.timeline.timeline import Timeline


def cache_of(settings: Settings) -> Cache | None:
    """The cache on this machine, unless it is switched off."""
    from platformdirs import user_cache_path

    from core.timeline.cache import Cache

    chosen = settings.timeline.cache
    if not chosen.on or chosen.limit == 0:
        return None
    return Cache(user_cache_path("nooscope", appauthor=False), chosen.limit * 1_000_000)


def one_session(path: str, settings: Settings) -> tuple[LogSession, Kit]:
    """The one session at a path, and what its readers share."""
    from core.ingest.source import make_kit, sessions

    kit = make_kit(settings.ingest)
    found = sessions([path], kit, settings.ingest.lines)
    if len(found) > 1:
        raise UnreadableLog(f"{path} holds {len(found)} sessions; name one log")
    return found[0], kit


def recording(path: str, settings: Settings, project: Path | None = None) -> Timeline:
    """The one session at a path as a recording, with progress on a terminal."""
    from core.timeline.opening import Progress, record
    from tui.outset import spoken_outset

    session, kit = one_session(path, settings)
    beginning = spoken_outset(project)
    shown = sys.stderr.isatty()

    def report(progress: Progress) -> bool:
        if shown:
            print(f"\rreading {100 * progress.share:.0f}%", end="", file=sys.stderr, flush=True)
        return True

    timeline = record(session, settings, kit, cache=cache_of(settings), report=report, beginning=beginning)
    if shown:
        print("\r" + " " * 16 + "\r", end="", file=sys.stderr, flush=True)
    if timeline is None or len(timeline) == 0:
        raise UnreadableLog(f"{path} holds no events")
    return timeline


def place(timeline: Timeline, spoken: str) -> int:
    """`120`, `-1`, `00:41:12`, `41m` or an ISO time as a number of events."""
    from core.ingest.times import seconds

    text = spoken.strip()
    if text.lstrip("-").isdecimal():
        number = int(text)
        return max(0, len(timeline) + 1 + number) if number < 0 else min(number, len(timeline))
    start = timeline.events[0].at
    parts = text.split(":")
    if 2 <= len(parts) <= 3 and all(part.isdecimal() for part in parts):
        offset = 0
        for part in parts:
            offset = offset * 60 + int(part)
        return timeline.index_at(start + offset)
    units = {"s": 1, "m": 60, "h": 3600}
    if text and text[-1] in units and text[:-1].replace(".", "", 1).isdecimal():
        return timeline.index_at(start + float(text[:-1]) * units[text[-1]])
    moment = seconds(text)
    if moment is None:
        raise NooscopeError(f"{spoken!r} is no place; write an event's number, 00:41:12, 41m or an ISO time")
    return timeline.index_at(moment)
