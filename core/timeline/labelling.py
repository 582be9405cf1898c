"""What a person says of the firings at the playhead."""

from __future__ import annotations

from collections.abc import Sequence

from core.store.labels import Label, Verdict
from core.timeline.firings import FIRINGS
from core.timeline.rerun import key_of
from core.timeline.timeline import Timeline

_NEXT: dict[Verdict | None, Verdict | None] = {None: "right", "right": "wrong", "wrong": None, "missed": None}


def judged_labels(
    labels: Sequence[Label], timeline: Timeline, index: int, now: float
) -> tuple[list[Label], bool, str]:
    """Judge what fired with the event before the playhead: right, then wrong, then nothing.

    The labels, whether they are to be withdrawn, and what to say where nothing fired.
    """
    marks = [mark for mark in timeline.marks.between(index - 1, index) if mark.kind in FIRINGS]
    if not marks:
        return [], False, "nothing fired with this event; L says that something should have"
    standing = {label.key: label.verdict for label in labels}
    made: list[Label] = []
    verdict: Verdict | None = None
    for number, mark in enumerate(marks):
        label = Label(mark.place, mark.at, "right", key_of(mark), mark.agent, now)
        if number == 0:
            verdict = _NEXT[standing.get(label.key)]
        made.append(Label(mark.place, mark.at, verdict or "wrong", key_of(mark), mark.agent, now))
    return made, verdict is None, ""


def missed_label(
    labels: Sequence[Label], timeline: Timeline, index: int, agent: str, now: float
) -> tuple[Label, bool]:
    """A moment at which something should have fired, and whether that is withdrawn."""
    place = max(0, index - 1)
    label = Label(place, timeline.time_of(index), "missed", "", agent, now)
    return label, any(each.key == label.key for each in labels)
