"""Firings of two runs compared, and a person's verdicts on firings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core.store.bookmarks import Label, Verdict
from core.timeline.marks import Mark, MarkKind
from core.timeline.timeline import Timeline

# Marks that are compared.
FIRINGS: frozenset[MarkKind] = frozenset(("signal", "method", "background", "halt", "quarantine"))


class Pair(NamedTuple):
    """One firing in the actual run and its counterpart in the other."""

    actual: Mark
    other: Mark


class Difference(NamedTuple):
    """Two runs over the same events, firing by firing."""

    kept: tuple[Pair, ...]  # At the same event in both.
    gained: tuple[Mark, ...]  # Only in the other run.
    lost: tuple[Mark, ...]  # Only in the actual run.
    moved: tuple[Pair, ...]  # In both, near each other in time.

    @property
    def equal(self) -> bool:
        """Nothing fired otherwise."""
        return not (self.gained or self.lost or self.moved)

    def table(self) -> dict[str, tuple[int, int, int, int]]:
        """Count firings in both runs, gained, lost and moved, for each name."""
        rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        groups = ([pair.actual for pair in self.kept], self.gained, self.lost, [pair.actual for pair in self.moved])
        for column, group in enumerate(groups):
            for mark in group:
                rows[key_of(mark)][column] += 1
        return {name: (row[0], row[1], row[2], row[3]) for name, row in sorted(rows.items())}


def compare(actual: Iterable[Mark], other: Iterable[Mark], near: float) -> Difference:
    """Pair the firings of two runs; those less than `near` seconds apart count as moved."""
    ours, theirs = _by_name(actual), _by_name(other)
    in_both: list[Pair] = []
    moved: list[Pair] = []
    gained: list[Mark] = []
    lost: list[Mark] = []
    for name in sorted(ours.keys() | theirs.keys()):
        mine, others = ours.get(name, []), theirs.get(name, [])
        places = {mark.place: mark for mark in others}
        same = [mark for mark in mine if mark.place in places]
        in_both += [Pair(mark, places[mark.place]) for mark in same]
        same_places = {mark.place for mark in same}
        left = [mark for mark in mine if mark.place not in same_places]
        right = [mark for mark in others if mark.place not in same_places]
        pairs = _nearest(left, right, near)
        moved += pairs
        paired = {pair.actual.place for pair in pairs}, {pair.other.place for pair in pairs}
        lost += [mark for mark in left if mark.place not in paired[0]]
        gained += [mark for mark in right if mark.place not in paired[1]]
    return Difference(tuple(sorted(in_both)), tuple(sorted(gained)), tuple(sorted(lost)), tuple(sorted(moved)))


def _nearest(left: list[Mark], right: list[Mark], near: float) -> list[Pair]:
    """Pair what is closest first; each firing is used once."""
    close: list[tuple[float, int, int]] = []
    start = 0
    for i, mine in enumerate(left):
        while start < len(right) and right[start].at < mine.at - near:
            start += 1
        for j in range(start, len(right)):
            apart = abs(right[j].at - mine.at)
            if right[j].at > mine.at + near:
                break
            close.append((apart, i, j))
    used_left: set[int] = set()
    used_right: set[int] = set()
    pairs: list[Pair] = []
    for _, i, j in sorted(close):
        if i not in used_left and j not in used_right:
            used_left.add(i)
            used_right.add(j)
            pairs.append(Pair(left[i], right[j]))
    return pairs


def _by_name(marks: Iterable[Mark]) -> dict[tuple[str, str], list[Mark]]:
    groups: dict[tuple[str, str], list[Mark]] = defaultdict(list)
    for mark in marks:
        if mark.kind in FIRINGS:
            groups[mark.agent, key_of(mark)].append(mark)
    return groups


def key_of(mark: Mark) -> str:
    """Return the name under which a firing is counted."""
    return mark.name if mark.kind in ("signal", "method", "background") else f"{mark.kind} {mark.name}"


_NEXT: dict[Verdict | None, Verdict | None] = {None: "right", "right": "wrong", "wrong": None, "missed": None}


def judged_labels(labels: Sequence[Label], timeline: Timeline, index: int, now: float) -> tuple[list[Label], bool, str]:
    """Judge the firings of the event before the playhead: right, then wrong, then not judged.

    Returns the labels, whether to withdraw them, and a sentence if nothing fired.
    """
    marks = [mark for mark in timeline.marks.between(index - 1, index) if mark.kind in FIRINGS]
    if not marks:
        return [], False, "nothing fired at this event"
    standing = {label.key: label.verdict for label in labels}
    judged: list[Label] = []
    verdict: Verdict | None = None
    for number, mark in enumerate(marks):
        label = Label(mark.place, mark.at, "right", key_of(mark), mark.agent, now)
        if number == 0:
            verdict = _NEXT[standing.get(label.key)]
        judged.append(Label(mark.place, mark.at, verdict or "wrong", key_of(mark), mark.agent, now))
    return judged, verdict is None, ""


def missed_label(labels: Sequence[Label], timeline: Timeline, index: int, agent: str, now: float) -> tuple[Label, bool]:
    """A moment at which something should have fired, and whether that is withdrawn."""
    place = max(0, index - 1)
    label = Label(place, timeline.time_of(index), "missed", "", agent, now)
    return label, any(each.key == label.key for each in labels)
