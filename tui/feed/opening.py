"""From what a person named to a film and the source that fills it."""

from __future__ import annotations

from typing import NamedTuple

from core.agents.registry import make_kit
from core.live.source import Followed, Saved, Source, Target, find_session
from core.logs.session import LogSession
from core.settings import Settings
from core.timeline.cache import Cache
from core.timeline.cache import LogStamp as Stand
from core.timeline.carry_over import Start, Starts
from core.timeline.initial_state import PLAIN, Beginning
from core.timeline.opening import last_screen, seed_of
from core.timeline.timeline import Timeline
from tui.feed.film import Film
from tui.feed.view import Subject


class Opened(NamedTuple):
    """A session that is about to be shown."""

    source: Source
    film: Film
    """Empty, unless the session was kept in the cache."""
    start: Start


def open_target(target: Target, cache: Cache | None, starts: Starts) -> Opened:
    """Find the session; raises UnreadableLog where there is none and none can come."""
    settings = starts.settings
    kit = make_kit(settings.ingest)
    session = find_session(target, kit, settings)
    if session is None:
        start = Start(settings, starts.beginning)
        return Opened(Followed(target.path, kit, settings), blank(None, target, start), start)
    if target.live:
        start = Start(settings, starts.beginning._replace(seed=seed_of(session.id)))
        return Opened(Followed(session, kit, settings), blank(session, target, start), start)
    source, start = Saved(session, kit, settings), starts.of(session.id)
    kept = cache.load(session.id, *start) if cache is not None else None
    if kept is not None and kept.sources == _stands(session):
        source.behind = False
        return Opened(source, Film(kept.timeline, subject_of(session, target), settings.screen.burn), start)
    return Opened(source, blank(session, target, start), start)


def blank(session: LogSession | None, target: Target, start: Start) -> Film:
    """A film without any event yet."""
    timeline = Timeline(start.settings, beginning=start.beginning, later=start.later)
    return Film(timeline, subject_of(session, target), start.settings.screen.burn)


def subject_of(session: LogSession | None, target: Target) -> Subject:
    """What is known of a session before its first event."""
    if session is None:
        return Subject(path=str(target.path))
    return Subject(session=session.id, tool=session.tool, path=str(session.path))


def ending(source: Source, target: Target, settings: Settings, beginning: Beginning = PLAIN) -> Film | None:
    """The end of a long log as a film of its own, to look at while all of it is read."""
    tail = int(settings.screen.tail * 1_000_000)
    if source.session is None or not 0 < 2 * tail < source.size:
        return None
    timeline = last_screen(source.session, settings, source.kit, tail, beginning)
    return Film(timeline, subject_of(source.session, target), settings.screen.burn)


def keep(source: Source, film: Film, start: Start, cache: Cache | None) -> None:
    """Remember a saved session, where it is long enough to be worth it."""
    least = start.settings.timeline.cache.least
    if cache is not None and source.session is not None and len(film) >= least:
        cache.save(source.session.id, film.timeline, _stands(source.session), start.later)


def _stands(session: LogSession) -> tuple[Stand, ...]:
    return tuple(found for log in session.logs if (found := Stand.of(log.path)) is not None)
