"""Cards of the Governor and Affect tabs: budgets and pressures, affect fields, quarantine, sub-agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from core.engine.affect.fields import FIELDS, FieldName, FieldReading
from core.engine.affect.lineage import HASH, LineageEntry, LineageReading, describe_entry, verify
from core.engine.governor.episode import GovernorEpisode
from core.engine.governor.governor import GovernorReading
from core.engine.percept import NEUTRAL
from core.engine.society import AgentReading
from core.report.agents import agent_fields
from core.report.formatting import clock, count, fraction, plain, span
from tui.draw.line import Line, fit, meter, sparkline, tree_guides
from tui.feed.view import View, names_of
from tui.widgets.common.card import Card, gauge, heading, pair, sentence_lines, signed
from tui.widgets.model.agents import agent_sign

_STATES = {"IDLE": ("● IDLE", "live"), "RECOVERING": ("◐ RECOVERING", "seeking"), "HALTED": ("■ HALTED", "alert")}
_BUDGET_STYLES = {"effort": "confidence", "risk": "frustration", "exploration": "seeking", "persistence": "flow"}


class GovernorCard(Card):
    """Whether the agent may continue on its own, and how near each limit is."""

    TITLE: ClassVar[str] = "Budgets of the governor"
    TALL: ClassVar[tuple[int, int]] = (11, 20)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        governor = view.frame.governor
        word, ink = _STATES[governor.state]
        yield [(word, ink), (f"  {governor.profile_name} profile", "quiet")]
        yield from _budgets(governor, width)
        yield _limited("steps", governor.step, governor.profile.max_steps, width)
        yield _limited("no progress", governor.stagnant, governor.profile.stagnation_window, width, ink="fatigue")
        halt = governor.would_halt
        yield from sentence_lines(halt or "would not halt", width, "alert" if halt else "quiet")
        if governor.after_halt:
            yield from sentence_lines(f"the agent went on for {count(governor.after_halt, 'call')}", width, "plain")

    def more(self, view: View, width: int) -> list[Line]:
        governor = view.frame.governor
        profile = governor.profile
        rows = (
            ("SAFETY", f"exploration reaches {profile.max_exploration:g}"),
            ("OVERRISK", f"risk reaches {profile.max_risk:g}"),
            ("EXHAUSTION", f"effort falls to {profile.exhaustion_threshold:g}"),
            ("STAGNATION", f"no progress for {profile.stagnation_window}, effort {profile.stagnation_floor:g}"),
            ("EXTERNAL", f"{profile.max_steps} steps taken"),
            ("recovers", f"effort under {profile.effort_dip:g} or persistence {profile.persistence_dip:g}"),
            ("stabilises", f"effort back at {profile.recovery_cap:g}"),
        )
        lines = [*self.brief(view, width), [], heading("when it would halt or recover (the first that applies)")]
        for name, words in rows:
            sign, ink = ("▶ ", "alert") if name == governor.halt else ("  ", "plain")
            lines.append([(sign, "alert"), (fit(name, 12), ink), (fit(words, max(1, width - 14)), "quiet")])
        return lines


def _limited(name: str, value: int, limit: int, width: int, ink: str = "heat-2") -> Line:
    """A count on the way to its limit."""
    return gauge(name, value / max(1, limit), width, f"{value}", ink=ink, limit=1.0)


def _budgets(governor: GovernorReading, width: int) -> Iterator[Line]:
    """Return four bars, scaled so that every limit fits on its bar."""
    profile = governor.profile
    marks = {
        "effort": ((profile.exhaustion_threshold, "╎"), (profile.effort_dip, "·")),
        "risk": ((profile.max_risk, "╎"),),
        "exploration": ((profile.max_exploration, "╎"),),
        "persistence": ((profile.persistence_dip, "·"),),
    }
    for name, value in governor.budgets._asdict().items():
        whole = max(1.0, *(at for at, _ in marks[name]))
        positions = [(at / whole, glyph, "threshold") for at, glyph in marks[name]]
        yield gauge(name, value / whole, width, fraction(value), ink=_BUDGET_STYLES[name], marks=positions)


class PressureCard(Card):
    """The pressures on the run, and the inputs of the last step."""

    TITLE: ClassVar[str] = "Pressures and inputs"
    TALL: ClassVar[tuple[int, int]] = (12, 12)

    def brief(self, view: View, width: int) -> list[Line]:
        governor = view.frame.governor
        pressures = governor.pressures._asdict()
        reach = max(1.0, *(abs(value) for value in pressures.values()))
        lines = [
            signed(name, value, width, f"{value:+.2f}", reach=reach, worse_above=name in ("frustration", "risk"))
            for name, value in pressures.items()
        ]
        lines.append([])
        for source in governor.inputs:
            cause = fit(source.cause, max(1, width - 17))
            lines.append([(fit(source.name, 11), "quiet"), (f"{source.value:+.2f} ", "plain"), (cause, "quiet")])
        return lines


class GovernedCard(Card):
    """The episodes of the governor, newest first, with the course of effort and how each ended."""

    TITLE: ClassVar[str] = "Governed episodes"
    TALL: ClassVar[tuple[int, int]] = (12, 20)

    def brief(self, view: View, width: int) -> list[Line]:
        governor = view.frame.governor
        if not governor.episodes:
            return [[("no episode has begun", "quiet")]]
        episodes = [governor.episode, *reversed(governor.past)][: 30 if self.rich else 6]
        lines = [line for episode in episodes for line in self._episode_lines(view, episode, width)]
        halted = [f"#{episode.number}" for episode in (*governor.past, governor.episode) if episode.halt]
        names = f": {', '.join(halted)}" if halted else ""
        total = f"{count(governor.episodes, 'episode')}, {governor.halts} would halt{names}"
        return [*lines, *sentence_lines(total, width)]

    def _episode_lines(self, view: View, episode: GovernorEpisode, width: int) -> list[Line]:
        open_ = episode.number == view.frame.governor.episode.number
        points = [point.effort for point in episode.trajectory()]
        room = max(6, min(24, width - 26))
        if len(points) > room:
            points = [points[place * len(points) // room] for place in range(room)]
        lasted = span(max(0.0, episode.closed_at - episode.opened_at))
        number = f"{episode.number:>3} {clock(episode.opened_at - view.start)} "
        curve, steps = fit(sparkline(points), room) + " ", count(episode.steps, "step").rjust(10)
        head = [("▶" if open_ else " ", "live"), (number, "quiet"), (curve, "confidence"), (steps, "plain")]
        if episode.halt:
            after = f", {episode.after_halt} after" if episode.after_halt else ""
            words = f"     ■ {episode.halt} at step {episode.steps}{after}"
            return [head, [(fit(words, width), "alert")]]
        dips = f", {count(episode.dips, 'dip')}" if episode.dips else ""
        return [head, [(fit(f"       {lasted}, {episode.fruitless} without progress{dips}", width), "quiet")]]


class SocietyCard(Card):
    """All agents of the session as a tree, and their shared mood."""

    TITLE: ClassVar[str] = "Society"
    TALL: ClassVar[tuple[int, int]] = (8, 12)

    def brief(self, view: View, width: int) -> list[Line]:
        most = 300 if self.detailed else 24 if self.rich else 10
        people = view.people
        visible = people.agents[:most]
        guides = tree_guides([agent.depth for agent in visible])
        names = names_of(view)
        lines = []
        for agent, guide in zip(visible, guides, strict=True):
            lines.append(self._agent(view, agent, names.get(agent.name, plain(agent.name, 20)), guide, width))
        if len(people.agents) > most:
            lines.append([(f"and {len(people.agents) - most} more", "quiet")])
        lines.append([])
        finished = f", {people.finished} finished" if people.finished else ""
        shared = f"{count(len(people.agents), 'agent')}{finished}, affect shared {count(people.rounds, 'time')}"
        lines.append([(fit(shared, width), "quiet")])
        for session, at in people.neighbours:
            words = f"{plain(session, 16)} works in the same folder, seen {span(max(0.0, view.at - at))} ago"
            lines.append([(fit(words, width), "quiet")])
        strongest = strongest_field(people.zone.mean)
        if strongest:
            lines.append(pair("shared mood", strongest, width))
        spirals = (f"! {FIELD_NAMES[field]} runs away: not passed on" for field in people.zone.spirals)
        return [*lines, *([(fit(words, max(3, width)), "alert")] for words in spirals)]

    def _agent(self, view: View, agent: AgentReading, name: str, indent: str, width: int) -> Line:
        sign, ink = agent_sign(agent, None)
        strongest = strongest_field(agent.deviations)
        room = max(6, width - len(indent) - 2 - 6 - (18 if width >= 34 else 0))
        here = agent.name == view.agent
        figures = f"{agent.events:>6,}" + (f" {strongest:>17}" if width >= 34 else "")
        label = fit(name, room), "strong" if here else "plain"
        return [(indent, "baseline"), (f"{sign} ", ink), label, (figures, "quiet")]


def strongest_field(deviations: tuple[float, ...]) -> str:
    """Return the field that is furthest from rest and its distance; blank if all are at rest."""
    place = max(range(len(deviations)), key=lambda number: abs(deviations[number]))
    if abs(deviations[place]) < CHANGED:
        return ""
    return f"{FIELD_NAMES[FIELDS[place]]} {deviations[place]:+.2f}"


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
    "promotion_threshold": "promotes at",
    "search_breadth": "recalls",
    "branch_growth": "branches",
    "unpromoted_decay": "forgets",
    "escalation_threshold": "asks you at",
    "persistence": "retries",
    "delegation_preference": "delegates",
    "mutation_acceptance": "accepts at",
}
CHANGED = 0.005  # Smaller changes are not shown.


class FieldCard(Card):
    """The seven control fields between floor and ceiling."""

    TITLE: ClassVar[str] = "Affect fields"
    TALL: ClassVar[tuple[int, int]] = (10, 18)

    def brief(self, view: View, width: int) -> list[Line]:
        affect = view.frame.affect
        lines = [self._field(field, width) for field in affect.fields]
        lines.append([(fit(f"policy {plain(affect.policy, 24)}", width), "quiet")])
        return lines

    def _field(self, field: FieldReading, width: int) -> Line:
        away = field.magnitude - field.rest
        ink = "quiet" if abs(away) < CHANGED else "uncertainty"
        at = 13 if width >= 34 else 10
        marks = [(field.floor, "[", "quiet"), (field.ceiling, "]", "quiet"), (field.rest, "╎", "threshold")]
        return [
            (fit(FIELD_NAMES[field.name], at - 1) + " ", "plain" if abs(away) >= CHANGED else "quiet"),
            *meter(field.magnitude, max(4, width - at - 12), ink, marks),
            (f" {fraction(field.magnitude):>4}", "plain"),
            (f" {away:+.2f} " if abs(away) >= CHANGED else " rest  ", "strong" if ink != "quiet" else "quiet"),
        ]

    def more(self, view: View, width: int) -> Iterator[Line]:
        yield from self.brief(view, width)
        yield []
        yield heading("pace")
        for field in view.frame.affect.fields:
            words = f"fades over {field.time_constant:.0f}s, at most {field.rate_limit:.2f} per step"
            yield pair(FIELD_NAMES[field.name], words, width, at=14)


class ModulationCard(Card):
    """The eight parameters that the fields adjust, and their normal values."""

    TITLE: ClassVar[str] = "Modulation"
    TALL: ClassVar[tuple[int, int]] = (10, 17)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        neutral = NEUTRAL._asdict()
        for name, value in view.frame.affect.modulation._asdict().items():
            away = value - neutral[name]
            sign = "▲" if away > CHANGED else "▼" if away < -CHANGED else "·"
            ink = "quiet" if sign == "·" else "plain"
            room = max(8, width - 22)
            yield [
                (fit(_TARGETS[name], room), ink),
                (f"{value:>6.2f} ", "strong" if sign != "·" else "plain"),
                (f"{sign} ", "uncertainty" if sign != "·" else "quiet"),
                (f"normal {neutral[name]:<5.2f}", "quiet"),
            ]

    def more(self, view: View, width: int) -> list[Line]:
        lean = view.frame.affect.composition
        ways = []
        for way in view.frame.response.delegates:
            succeeded = f"  {way.good} of {way.runs} succeeded" if way.runs else ""
            ways.append(pair(plain(way.role, 24), f"{way.score:.2f}{succeeded}", width))
        return [
            *self.brief(view, width),
            [],
            heading("ways to continue, the preferred one first"),
            *ways,
            [],
            heading("tendencies, 1 is normal"),
            pair("confidence fades", f"{lean.confidence_decay:.2f}", width),
            pair("confidence returns", f"{lean.confidence_recovery:.2f}", width),
            pair("futures considered", f"{lean.branching:.2f}", width),
            pair("futures discarded", f"{lean.pruning:.2f}", width),
            pair("looks ahead", f"{lean.depth:.2f}", width),
            pair("prefers the familiar", f"{lean.familiarity:.2f}", width),
        ]


class AgentFieldsCard(Card):
    """The six fields of an agent besides its affect."""

    TITLE: ClassVar[str] = "The agent's fields"
    TALL: ClassVar[tuple[int, int]] = (8, 10)

    def brief(self, view: View, width: int) -> list[Line]:
        lines = [pair(one.name, one.words, width, at=12) for one in agent_fields(view.frame)]
        return [*lines, pair("affect", f"{len(view.frame.affect.fields)} fields", width, at=12, ink="quiet")]


class QuarantineCard(Card):
    """How much affect moves, and what is restricted during quarantine."""

    TITLE: ClassVar[str] = "Quarantine"
    TALL: ClassVar[tuple[int, int]] = (8, 8)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        affect = view.frame.affect
        whole = max(1.25 * affect.enter, affect.volatility, 1e-9)
        state = ("▣ QUARANTINED", "alert") if affect.quarantined else ("● trusted", "live")
        yield [state, (f"  {count(affect.quarantines, 'quarantine')} so far", "quiet")]
        volatility, ink = affect.volatility / whole, "frustration" if affect.quarantined else "heat-2"
        limit, marks = affect.enter / whole, [(affect.release / whole, "·", "threshold")]
        yield gauge("volatility", volatility, width, f"{affect.volatility:.3f}", ink=ink, limit=limit, marks=marks)
        yield from ([("■ ", "alert"), (fit(word, max(1, width - 2)), "plain")] for word in affect.restrictions)
        if not affect.restrictions:
            yield from sentence_lines("nothing is restricted", width)
        yield pair("failures minus successes", f"{affect.failures:.1f}", width)
        yield pair("value of novelty", fraction(affect.novelty_worth), width)


class LineageCard(Card):
    """The newest changes of affect, each bound to the one before by its hash."""

    TITLE: ClassVar[str] = "Lineage"
    TALL: ClassVar[tuple[int, int]] = (13, 27)

    _checked: tuple[tuple[LineageEntry, ...], int | None] = ((), None)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        affect = view.frame.affect
        most = 100 if self.detailed else 12 if self.rich else 5
        links = affect.lineage
        if not links:
            yield [("affect has not changed yet", "quiet")]
            return
        altered = self._verify(links, affect.head)
        state, ink = "✓ intact ", "live"
        if altered is not None:
            state, ink = f"✗ altered at link {altered + 1} of {len(links)} ", "alert"
        changes = fit(f" {count(affect.changes, 'change')} so far", max(1, width - len(state)))
        yield [(state, ink), (changes, "quiet")]
        if self.rich and affect.head:
            yield pair("newest fingerprint", affect.head[:16], width)
        for link in reversed(links[-most:]):
            yield from self._link(view, describe_entry(link), width)

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
            text = f"{', ' if words else ''}{FIELD_NAMES[change.field]} {change.after - change.before:+.2f}"
            if len(words) + len(text) > width - len(when):
                break
            words += text
        if not words:
            cuts = sorted({cut for change in link.changes for cut in change.cuts})
            words = f"held back by {', '.join(cuts)}" if cuts else "no visible change"
        return [
            [(when, "quiet"), (fit(why, max(1, width - len(when))), "plain")],
            [(fit(" " * len(when) + words, width), "quiet")],
        ]


GOVERNOR_CARDS = (GovernorCard, PressureCard, GovernedCard)
AFFECT_CARDS = (FieldCard, ModulationCard, LineageCard, QuarantineCard, SocietyCard, AgentFieldsCard)
