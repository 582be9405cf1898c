"""Branches in words: what settings would bring and did, what a word would do, what a dream finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from core.events import MAIN
from core.report.conversation import ConversationTree
from core.report.event_words import firing_words
from core.report.formatting import clock, count, moment, plain
from core.settings import Settings
from core.settings.layers import tunables, value_of
from core.timeline.branch import Branch, Progress, sim
from core.timeline.firings import FIRINGS, Difference
from core.timeline.marks import Mark
from core.timeline.timeline import SettingsChange, Timeline

_NAMED = 4
"""Settings of one change that are named."""
_FOUND = 8
"""Findings of a dream that are named."""
_SHARE = 100.0
"""Events that rates are given for."""


class Foreseen(NamedTuple):
    """How often something fires in a hundred events: before, as foreseen, and since."""

    name: str
    before: float
    foreseen: float
    since: float

    @property
    def right(self) -> bool:
        """What came is nearer to what was foreseen than to what was before."""
        return abs(self.since - self.foreseen) <= abs(self.since - self.before)


class AppliedChange(NamedTuple):
    """Settings that were applied in a session, and what came of them."""

    after: int
    at: float
    settings: tuple[str, ...]
    rows: tuple[Foreseen, ...]
    events: int
    """Since then, until the next change or the end."""


class DreamFinding(NamedTuple):
    """Something that fires more or less often in a dream than it did."""

    name: str
    dreamt: float
    recorded: float
    strength: float
    """Share of the larger rate by which both differ."""


def applied_changes(timeline: Timeline, progress: Progress | None = None) -> list[AppliedChange]:
    """Run each change of settings over what was known then, and compare with what came afterwards."""
    changes = [change for change in timeline.changes[1:] if not change.news]
    ends = [*(change.after for change in changes[1:]), len(timeline)][: len(changes)]
    found = []
    for change, end in zip(changes, ends, strict=True):
        branch = sim(timeline, change.settings, until=change.after)
        if not branch.grow(progress):
            branch.abort("it was cut short")
            break
        before = _rates(timeline.marks.between(0, change.after), change.after)
        foreseen = _rates(branch.run.marks, change.after)
        since = _rates(timeline.marks.between(change.after, end), end - change.after)
        names = sorted(before.keys() | foreseen.keys() | since.keys())
        rows = tuple(
            Foreseen(name, before.get(name, 0.0), foreseen.get(name, 0.0), since.get(name, 0.0))
            for name in names
            if before.get(name, 0.0) != foreseen.get(name, 0.0)
        )
        settings = _changed(timeline.settings_at(max(0, change.after - 1)), change)
        found.append(
            AppliedChange(change.after, timeline.time_of(change.after), settings, rows, end - change.after)
        )
    return found


def findings(branch: Branch, acceptance: float) -> tuple[list[DreamFinding], list[DreamFinding]]:
    """What a dream shows that the session did not: what is sure enough to be taken over, and what is not."""
    timeline = branch.timeline
    dreamt = _rates((mark for mark in branch.run.marks if mark.place >= branch.after), branch.cost.events)
    recorded = _rates(timeline.marks.between(0, len(timeline)), len(timeline))
    found = []
    for name in sorted(dreamt.keys() | recorded.keys()):
        one, other = dreamt.get(name, 0.0), recorded.get(name, 0.0)
        if one != other:
            found.append(DreamFinding(name, one, other, abs(one - other) / max(one, other)))
    found.sort(key=lambda each: (-each.strength, each.name))
    sure = [each for each in found if each.strength >= acceptance]
    return sure, [each for each in found if each.strength < acceptance]


def applied_lines(changes: Iterable[AppliedChange], start: float) -> list[str]:
    """What settings applied in the session were to bring, and what came."""
    said: list[str] = []
    for change in changes:
        what = ", ".join(change.settings[:_NAMED]) or "other settings"
        more = f" and {len(change.settings) - _NAMED} more" if len(change.settings) > _NAMED else ""
        said.append(f"{clock(change.at - start)}  {what}{more}; {count(change.events, 'event')} since")
        for row in change.rows:
            verdict = "too early" if not change.events else "as foreseen" if row.right else "otherwise"
            said.append(
                f"  {firing_words(row.name)}: {row.before:.1f} in 100 events before, "
                f"{row.foreseen:.1f} foreseen, {row.since:.1f} came: {verdict}"
            )
        if not change.rows:
            said.append("  nothing was to fire otherwise")
    return said or ["no settings were applied in this session; y on the tuning screen does"]


def dream_lines(branch: Branch, acceptance: float) -> list[str]:
    """What a dream recombined, and what it found."""
    cost = branch.cost
    if not branch.events:
        return ["there is nothing to dream of yet"]
    sure, unsure = findings(branch, acceptance)
    said = [f"{branch.hypothesis}: {count(cost.events, 'event')} of past work in another order"]
    said += [_found(each) for each in sure[:_FOUND]]
    if len(sure) > _FOUND:
        said.append(f"and {count(len(sure) - _FOUND, 'smaller finding')}")
    if not sure:
        said.append("nothing would fire otherwise in that order, as far as can be told")
    if unsure:
        few = count(len(unsure), "finding")
        said.append(f"{few} below the strictness with which proposals are taken ({acceptance:.2f})")
    return said


def steer_lines(branch: Branch) -> list[str]:
    """What a word of the person's would have done to the mind, the agent going on as it did."""
    difference = branch.difference()
    start = branch.timeline.events[0].at if len(branch.timeline) else 0.0
    events = count(branch.cost.events, "event")
    said = [f"“{plain(branch.hypothesis, 80)}” before event {branch.after + 1}, {events} run"]
    if difference.equal:
        return [*said, "nothing would fire otherwise"]
    return [*said, *difference_lines(difference, start)]


def difference_lines(difference: Difference, start: float) -> list[str]:
    """Each firing that is gained, lost or moved."""
    said = [f"+ {_mark(mark, start)}" for mark in difference.gained]
    said += [f"- {_mark(mark, start)}" for mark in difference.lost]
    said += [f"~ {_mark(pair.actual, start)} -> {clock(pair.other.at - start)}" for pair in difference.moved]
    return said


def conversation_lines(tree: ConversationTree, edited: bool) -> list[str]:
    """The branches of a conversation, where each leaves, and whether the log is as it was."""
    head = tree.head
    if head is None:
        return ["the log holds no conversation"]
    chain = "the log was edited since it was read" if edited else "none was changed or left out"
    said = [
        f"{count(len(tree), 'record')}, {chain}; the last one's fingerprint is {head.content_hash.hex()[:16]}"
    ]
    for branch in tree.branches():
        first, last = tree[branch.start], tree[branch.tip]
        base = f", leaves from record {tree[branch.base].place + 1}" if branch.base is not None else ""
        here = " ◀ here" if branch.current else ""
        label = f"  {plain(first.label, 40)}" if first.label else ""
        said.append(
            f"{_KINDS[branch.kind]}: {count(branch.nodes, 'record')}, {moment(first.at)} to "
            f"{moment(last.at)}{base}{here}{label}"
        )
    return said


_KINDS: Mapping[str, str] = {
    "trunk": "conversation",
    "sidechain": "side chain of a sub-agent",
    "rewind": "you went back",
    "fork": "fork",
    "orphan": "resumed from elsewhere",
}


def _changed(before: Settings, change: SettingsChange) -> tuple[str, ...]:
    return tuple(
        f"{name} {value_of(change.settings, name)}"
        for name in tunables()
        if value_of(before, name) != value_of(change.settings, name)
    )


def _rates(marks: Iterable[Mark], events: int) -> dict[str, float]:
    counts = Counter(mark.name for mark in marks if mark.kind in FIRINGS)
    return {name: _SHARE * number / events for name, number in counts.items()} if events else {}


def _found(each: DreamFinding) -> str:
    more = "more" if each.dreamt > each.recorded else "less"
    return (
        f"{firing_words(each.name)} {more} often: {each.dreamt:.1f} in 100 events, "
        f"{each.recorded:.1f} as it was"
    )


def _mark(mark: Mark, start: float) -> str:
    agent = "" if mark.agent == MAIN else f"  {plain(mark.agent, 24)}"
    return f"{clock(mark.at - start)}  {firing_words(mark.name)}{agent}"
