"""What a sentence of the person's would do to the agent's mind, before it is sent."""

from __future__ import annotations

from core.engine.percept import AXES
from core.events import MAIN
from core.report.event_words import firing_words
from core.timeline.branch import pre_steer
from core.timeline.timeline import Timeline

_MOVED = 0.01
"""Least change of an axis that is told."""


def steer_preview(timeline: Timeline, words: str) -> tuple[str, ...]:
    """What would change at the recording's end if the agent took the words as it takes a prompt."""
    if not len(timeline):
        return ()
    branch = pre_steer(timeline, words, len(timeline))
    branch.grow()
    before = timeline.society.engine(MAIN).frame()
    after = branch.run.society.engine(MAIN).frame()
    said = [
        f"{name} {old.value:.2f} → {new.value:.2f}"
        for name, old, new in zip(AXES, before.receptor.axes, after.receptor.axes, strict=True)
        if abs(new.value - old.value) >= _MOVED
    ]
    if before.story.state != after.story.state:
        said.append(f"state {before.story.state} → {after.story.state}".replace("_", " "))
    if before.governor.episode.number != after.governor.episode.number:
        said.append("a new episode of the governor begins")
    if before.governor.state != after.governor.state:
        said.append(f"governor {before.governor.state.lower()} → {after.governor.state.lower()}")
    fired = [firing_words(mark.name) for mark in branch.difference().gained if mark.kind != "prompt"]
    if fired:
        said.append(f"would fire: {', '.join(dict.fromkeys(fired))}")
    return tuple(said)
