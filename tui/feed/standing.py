"""How a session stood at a place of its recording, from what its minds show there."""

from __future__ import annotations

from collections.abc import Sequence

from core.events import MAIN, Event, ToolUse
from core.live.status import Close, Facts, Limits, Open, Standing, Trouble, standing
from core.live.status_facts import closing
from core.timeline.marks import MarkKind
from core.timeline.timeline import Timeline
from tui.feed.frames import Sight

_STATE: tuple[MarkKind, ...] = ("state",)
_BACK = 400
"""Events looked back over for what the main agent's last one left behind."""


def standing_at(
    timeline: Timeline, index: int, sight: Sight, at: float, held: Sequence[Event], read: float = 1.0
) -> Standing:
    """After the first `index` events, at a moment; `held` are calls without an answer there."""
    settings = timeline.settings
    frame = sight.frame
    close, closed = _close(timeline, index, frozenset(settings.response.notices.final))
    state = timeline.marks.before(index, _STATE, frame.agent)
    loop, governor = frame.response.loops.current, frame.governor
    facts = Facts(
        events=index,
        heard=timeline.time_of(index) if index else 0.0,
        close=close,
        closed=closed,
        open=tuple(
            Open(call.at, call.agent, call.tool, call.action) for call in held if isinstance(call, ToolUse)
        ),
        loop=None if loop is None else Trouble(loop.began_at, loop.what),
        halt=Trouble(governor.episode.halted_at, governor.would_halt) if governor.state == "HALTED" else None,
        fuse=governor.halt == "EXTERNAL",
        stuck=Trouble(state.at, "frustrated, by trial and error")
        if state is not None and frame.receptor.meta.state == "stuck"
        else None,
        context=frame.mind.sleep.context,
        turns_left=frame.mind.sleep.turns_to_compaction,
        running=max(0, sight.people.running - 1),
        read=read,
    )
    return standing(facts, max(at, facts.heard), Limits.of(settings))


def _close(timeline: Timeline, index: int, final: frozenset[str]) -> tuple[Close, float]:
    for place in range(index - 1, max(-1, index - 1 - _BACK), -1):
        event = timeline.events[place]
        close = closing(event, final) if event.agent == MAIN else ""
        if close:
            return close, event.at
    return "", 0.0
