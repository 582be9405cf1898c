"""Cards of affect: the seven fields, what they bend, quarantine and lineage."""

from __future__ import annotations

from typing import ClassVar

from core.engine.affect.fields import FieldName, FieldReading
from core.engine.affect.lineage import HASH, LineageEntry, LineageReading, describe_entry, verify
from core.engine.percept import NEUTRAL
from core.report.agents import agent_fields
from core.report.formatting import clock, count, fraction, plain
from tui.draw.gauge import meter
from tui.draw.line import Line, fit
from tui.feed.view import View
from tui.widgets.common.card import Card, gauge, heading, pair, sentence_lines

FIELD_NAMES: dict[FieldName, str] = {
    "uncertainty_sensitivity": "uncertainty",
    "ambiguity_tolerance": "ambiguity",
    "novelty_appetite": "novelty",
    "persistence": "persistence",
    "escalation": "escalation",
    "risk_sensitivity": "risk",
    "cooperation": "cooperation",
}
_TARGETS = {
    "promotion_threshold": "promotes from",
    "search_breadth": "recalls",
    "branch_growth": "branches",
    "unpromoted_decay": "forgets",
    "escalation_threshold": "asks from",
    "persistence": "retries",
    "delegation_preference": "delegates",
    "mutation_acceptance": "accepts from",
}
CHANGED = 0.005
"""Least change worth a word."""


class FieldCard(Card):
    """The seven control fields between floor and ceiling."""

    TITLE: ClassVar[str] = "Affect fields"
    TALL: ClassVar[tuple[int, int]] = (10, 18)
    HELP: ClassVar[str] = """\
## Affect fields

Seven fields that bend how the mind works and can never reach the governor.
`[` floor and `]` ceiling are the policy's envelope, `╎` the rest a field returns to.
The figure on the right is the distance from rest.
"""

    def said(self, view: View, width: int) -> list[Line]:
        affect = view.frame.affect
        made = [self._field(field, width) for field in affect.fields]
        made.append([(fit(f"policy {plain(affect.policy, 24)}", width), "quiet")])
        return made

    def _field(self, field: FieldReading, width: int) -> Line:
        away = field.magnitude - field.rest
        ink = "quiet" if abs(away) < CHANGED else "uncertainty"
        at = 13 if width >= 34 else 10
        marks = [
            (field.floor, "[", "quiet"),
            (field.ceiling, "]", "quiet"),
            (field.rest, "╎", "threshold"),
        ]
        return [
            (fit(FIELD_NAMES[field.name], at - 1) + " ", "plain" if abs(away) >= CHANGED else "quiet"),
            *meter(field.magnitude, max(4, width - at - 12), ink, marks),
            (f" {fraction(field.magnitude):>4}", "plain"),
            (
                f" {away:+.2f} " if abs(away) >= CHANGED else " rest  ",
                "strong" if ink != "quiet" else "quiet",
            ),
        ]

    def more(self, view: View, width: int) -> list[Line]:
        made = [*self.said(view, width), [], heading("pace")]
        for field in view.frame.affect.fields:
            words = f"fades over {field.time_constant:.0f}s, at most {field.rate_limit:.2f} a step"
            made.append(pair(FIELD_NAMES[field.name], words, width, at=14))
        return made


class ModulationCard(Card):
    """The eight parameters the fields bend, and how far each is from neutral."""

    TITLE: ClassVar[str] = "Modulation"
    TALL: ClassVar[tuple[int, int]] = (10, 17)
    HELP: ClassVar[str] = """\
## Modulation

What the fields do: eight parameters of the mind, each bent within bounds. The arrow says which way it
is off neutral, the small figure what neutral is.
"""

    def said(self, view: View, width: int) -> list[Line]:
        made: list[Line] = []
        neutral = NEUTRAL._asdict()
        for name, value in view.frame.affect.modulation._asdict().items():
            away = value - neutral[name]
            sign = "▲" if away > CHANGED else "▼" if away < -CHANGED else "·"
            ink = "quiet" if sign == "·" else "plain"
            room = max(8, width - 18)
            made.append(
                [
                    (fit(_TARGETS[name], room), ink),
                    (f"{value:>6.2f} ", "strong" if sign != "·" else "plain"),
                    (f"{sign} ", "uncertainty" if sign != "·" else "quiet"),
                    (f"of {neutral[name]:<5.2f}", "quiet"),
                ]
            )
        return made

    def more(self, view: View, width: int) -> list[Line]:
        lean = view.frame.affect.composition
        ways = view.frame.response.delegates
        return [
            *self.said(view, width),
            [],
            heading("ways to go on, the preferred first"),
            *[
                pair(
                    plain(way.role, 24),
                    f"{way.score:.2f}" + (f"  {way.good} of {way.runs} went well" if way.runs else ""),
                    width,
                )
                for way in ways
            ],
            [],
            heading("how it leans, 1 is neutral"),
            pair("confidence fades", f"{lean.confidence_decay:.2f}", width),
            pair("confidence returns", f"{lean.confidence_recovery:.2f}", width),
            pair("futures opened", f"{lean.branching:.2f}", width),
            pair("futures cut", f"{lean.pruning:.2f}", width),
            pair("looks ahead", f"{lean.depth:.2f}", width),
            pair("stays with the known", f"{lean.familiarity:.2f}", width),
        ]


class AgentFieldsCard(Card):
    """The six fields an agent carries beside its affect."""

    TITLE: ClassVar[str] = "The agent's fields"
    TALL: ClassVar[tuple[int, int]] = (8, 10)
    HELP: ClassVar[str] = """\
## The agent's fields

Intent, context, memory, policy, last change and lineage: what an agent carries with it beside the seventh
field, its affect. No words of the log are in them.
"""

    def said(self, view: View, width: int) -> list[Line]:
        made = [pair(one.name, one.words, width, at=12) for one in agent_fields(view.frame)]
        return [
            *made,
            pair("affect", f"{len(view.frame.affect.fields)} fields, beside", width, at=12, ink="quiet"),
        ]


class QuarantineCard(Card):
    """The circuit breaker: how much affect moves, and what is restricted while it is broken."""

    TITLE: ClassVar[str] = "Quarantine"
    TALL: ClassVar[tuple[int, int]] = (8, 8)
    HELP: ClassVar[str] = """\
## Quarantine

Affect that moves too much is neither trusted nor passed on. `╎` is the volatility at which quarantine
begins, `·` the one below which it ends.
"""

    def said(self, view: View, width: int) -> list[Line]:
        affect = view.frame.affect
        whole = max(1.25 * affect.enter, affect.volatility, 1e-9)
        state = ("▣ QUARANTINED", "alert") if affect.quarantined else ("● trusted", "live")
        made: list[Line] = [
            [state, (f"  {count(affect.quarantines, 'quarantine')} so far", "quiet")],
            gauge(
                "volatility",
                affect.volatility / whole,
                width,
                f"{affect.volatility:.3f}",
                ink="frustration" if affect.quarantined else "heat-2",
                marks=[(affect.release / whole, "·", "threshold"), (affect.enter / whole, "╎", "threshold")],
            ),
        ]
        made += [[("■ ", "alert"), (fit(word, max(1, width - 2)), "plain")] for word in affect.restrictions]
        if not affect.restrictions:
            made += sentence_lines("nothing is restricted", width)
        made += [
            pair("failures less successes", f"{affect.failures:.1f}", width),
            pair("worth of novelty", fraction(affect.novelty_worth), width),
        ]
        return made


class LineageCard(Card):
    """The newest changes of affect, each bound to the one before by its hash."""

    TITLE: ClassVar[str] = "Lineage"
    TALL: ClassVar[tuple[int, int]] = (13, 27)
    HELP: ClassVar[str] = """\
## Lineage

Every change of affect is a link that names the hash of the one before. The links at hand are checked
whenever they are shown: `✓` whole, `✗` names the first that was altered.
"""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._checked: tuple[tuple[LineageEntry, ...], int | None] = ((), None)

    def said(self, view: View, width: int) -> list[Line]:
        return self._list(view, width, 5)

    def more(self, view: View, width: int) -> list[Line]:
        made = self._list(view, width, 12 if not self.detailed else 100)
        head = view.frame.affect.head
        return [*made[:1], pair("fingerprint of the newest", head[:16], width), *made[1:]] if head else made

    def _list(self, view: View, width: int, most: int) -> list[Line]:
        affect = view.frame.affect
        links = affect.lineage
        if not links:
            return [[("affect has not changed yet", "quiet")]]
        altered = self._verify(links, affect.head)
        if altered is None:
            state: Line = [("✓ whole ", "live")]
        else:
            state = [(f"✗ altered at link {altered + 1} of {len(links)} ", "alert")]
        room = max(1, width - sum(len(text) for text, _ in state))
        state.append((fit(f" {count(affect.changes, 'change')} so far", room), "quiet"))
        made = [state]
        for link in reversed(links[-most:]):
            made += self._link(view, describe_entry(link), width)
        return made

    def _verify(self, links: tuple[LineageEntry, ...], head: str) -> int | None:
        if self._checked[0] is not links:
            self._checked = (links, verify(links, links[0].payload[:HASH], bytes.fromhex(head)))
        return self._checked[1]

    def _link(self, view: View, link: LineageReading, width: int) -> list[Line]:
        why = ", ".join(trigger.replace("_", " ") for trigger, _ in link.observations) or link.act
        if link.source:
            why = f"{link.act} {plain(link.source, 16)}"
        moved = [change for change in link.changes if abs(change.after - change.before) >= CHANGED]
        moved.sort(key=lambda change: -abs(change.after - change.before))
        when = f"{clock(link.at - view.start)} "
        words = ""
        for change in moved:
            said = f"{', ' if words else ''}{FIELD_NAMES[change.field]} {change.after - change.before:+.2f}"
            if len(words) + len(said) > width - len(when):
                break
            words += said
        if not words:
            cuts = sorted({cut for change in link.changes for cut in change.cuts})
            words = f"held back by {', '.join(cuts)}" if cuts else "nothing to speak of"
        return [
            [(when, "quiet"), (fit(why, max(1, width - len(when))), "plain")],
            [(fit(" " * len(when) + words, width), "quiet")],
        ]
