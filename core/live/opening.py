"""From what a person named to the driver that follows or plays it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from core.agents.registry import make_kit
from core.live.driver import Driver
from core.live.source import Followed, Saved, Target, find_session
from core.store.bookmarks import Bookmarks
from core.timeline.opening import Cache, seed_of, session_stamps
from core.timeline.run_inputs import InitialStates, RunInputs

if TYPE_CHECKING:
    from core.extension.hooks import Extension
    from core.live.carry_over import CarryOver
    from core.live.hook_signs import HookSigns
    from core.live.notices import Notifier


def open_recording(
    target: Target,
    initial_states: InitialStates,
    *,
    cache: Cache | None = None,
    carry_over: CarryOver | None = None,
    bookmarks: Callable[[str], Bookmarks] | None = None,
    notifier: Notifier | None = None,
    wall: Callable[[], float] = time.time,
    hooks: Callable[[str], HookSigns | None] | None = None,
    extensions: Iterable[Extension] = (),
) -> Driver:
    """A driver that records; raises UnreadableLog where there is no session and none can come."""
    settings = initial_states.settings
    kit = make_kit(settings.ingest)
    session, told = find_session(target, kit, settings)
    if told:
        initial_states.notices.append(told)
    if session is None or target.live:
        source = Followed(session or target.path, kit, settings)
        inputs = None
        if session is not None and carry_over is None:
            inputs = RunInputs(settings, initial_states.initial._replace(seed=seed_of(session.id)))
        return Driver(
            source,
            initial_states,
            inputs=inputs,
            record=True,
            carry_over=carry_over,
            bookmarks=bookmarks,
            notifier=notifier,
            wall=wall,
            hooks=hooks,
            extensions=extensions,
        )
    saved, inputs = Saved(session, kit, settings), initial_states.of(session.id)
    kept = cache.load(session.id, *inputs) if cache is not None else None
    recorded = kept.timeline if kept is not None and kept.sources == session_stamps(session) else None
    saved.behind = recorded is None
    return Driver(
        saved, initial_states, inputs=inputs, record=True, recorded=recorded, wall=wall, extensions=extensions
    )


def keep_recording(driver: Driver, cache: Cache | None) -> None:
    """Remember a saved session, where it is long enough to be worth it."""
    session, timeline, inputs = driver.source.session, driver.timeline, driver.inputs
    least = inputs.settings.timeline.cache.least
    if cache is not None and session is not None and timeline is not None and len(timeline) >= least:
        cache.save(session.id, timeline, session_stamps(session), inputs.later)
