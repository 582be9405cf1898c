"""From what a person named to a film and the source that fills it."""

from __future__ import annotations

from typing import NamedTuple

from core.live.source import Followed, Saved, Source, Target, find_session
from core.logs.finder import make_kit
from core.logs.session import LogSession
from core.settings import Settings
from core.timeline.cache import Cache
from core.timeline.cache import LogStamp as Stand
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


def open_target(
    target: Target, settings: Settings, cache: Cache | None, beginning: Beginning = PLAIN
) -> Opened:
    """Find the session; raises UnreadableLog where there is none and none can come."""
    kit = make_kit(settings.ingest)
    session = find_session(target, kit, settings)
    if session is None:
        return Opened(Followed(target.path, kit, settings), blank(None, target, settings, beginning))
    if target.live:
        return Opened(Followed(session, kit, settings), blank(session, target, settings, beginning))
    source = Saved(session, kit, settings)
    kept = cache.load(session.id, settings, _own(session, beginning)) if cache is not None else None
    if kept is not None and kept.sources == _stands(session):
        source.behind = False
        return Opened(source, Film(kept.timeline, subject_of(session, target), settings.screen.burn))
    return Opened(source, blank(session, target, settings, beginning))


def blank(
    session: LogSession | None, target: Target, settings: Settings, beginning: Beginning = PLAIN
) -> Film:
    """A film without any event yet, whose minds begin from the session's own seed."""
    timeline = Timeline(settings, beginning=_own(session, beginning))
    return Film(timeline, subject_of(session, target), settings.screen.burn)


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


def keep(source: Source, film: Film, settings: Settings, cache: Cache | None) -> None:
    """Remember a saved session, where it is long enough to be worth it."""
    if cache is not None and source.session is not None and len(film) >= settings.timeline.cache.least:
        cache.save(source.session.id, film.timeline, _stands(source.session))


def _own(session: LogSession | None, beginning: Beginning) -> Beginning:
    return beginning._replace(seed=seed_of(session.id) if session else 0)


def _stands(session: LogSession) -> tuple[Stand, ...]:
    return tuple(found for log in session.logs if (found := Stand.of(log.path)) is not None)
