"""Cards of the governor: its state and budgets, what weighs on it, and the episodes it has seen."""

from __future__ import annotations

from typing import ClassVar

from core.engine.governor import GovernorReading
from core.engine.governor.episode import GovernorEpisode
from core.report.formatting import clock, count, fraction, span
from tui.draw.gauge import sparkline
from tui.draw.line import Line, fit
from tui.feed.view import View
from tui.widgets.common.card import Card, gauge, heading, sentence_lines, signed

_STATES = {
    "IDLE": ("● IDLE", "live"),
    "RECOVERING": ("◐ RECOVERING", "seeking"),
    "HALTED": ("■ HALTED", "alert"),
}
_BUDGET_STYLES = {
    "effort": "confidence",
    "risk": "frustration",
    "exploration": "seeking",
    "persistence": "flow",
}


class GovernorCard(Card):
    """Whether the agent would be let go on, and how near each limit is."""

    TITLE: ClassVar[str] = "Governor"
    TALL: ClassVar[tuple[int, int]] = (11, 20)
    HELP: ClassVar[str] = """\
## Governor

A governor that only watches: it says where it would halt the agent, and never does.
Four budgets; `╎` is the limit at which it would halt, `·` where it begins to recover.
Effort and persistence are spent, risk and exploration pile up. An episode lasts from one prompt to the next;
a halt is final inside it.
"""

    def said(self, view: View, width: int) -> list[Line]:
        governor = view.frame.governor
        word, ink = _STATES[governor.state]
        made: list[Line] = [
            [(word, ink), (f"  {governor.profile_name} profile", "quiet")],
            *_budgets(governor, width),
            gauge(
                "steps",
                governor.step / max(1, governor.profile.max_steps),
                width,
                f"{governor.step}",
                marks=[(1.0, "╎", "threshold")],
            ),
            gauge(
                "no progress",
                governor.stagnant / max(1, governor.profile.stagnation_window),
                width,
                f"{governor.stagnant}",
                ink="fatigue",
                marks=[(1.0, "╎", "threshold")],
            ),
        ]
        if governor.would_halt:
            made += sentence_lines(governor.would_halt, width, "alert")
        else:
            made += sentence_lines("would not halt", width)
        if governor.after_halt:
            made += sentence_lines(
                f"the agent went on for {count(governor.after_halt, 'call')}", width, "plain"
            )
        return made

    def more(self, view: View, width: int) -> list[Line]:
        governor = view.frame.governor
        profile = governor.profile
        rows = (
            ("SAFETY", f"exploration reaches {profile.max_exploration:g}"),
            ("OVERRISK", f"risk reaches {profile.max_risk:g}"),
            ("EXHAUSTION", f"effort falls to {profile.exhaustion_threshold:g}"),
            (
                "STAGNATION",
                f"no progress for {profile.stagnation_window}, effort {profile.stagnation_floor:g}",
            ),
            ("EXTERNAL", f"{profile.max_steps} steps taken"),
            ("recovers", f"effort under {profile.effort_dip:g} or persistence {profile.persistence_dip:g}"),
            ("stabilises", f"effort back at {profile.recovery_cap:g}"),
        )
        rules: list[Line] = [
            [
                ("▶ " if name == governor.halt else "  ", "alert"),
                (fit(name, 12), "alert" if name == governor.halt else "plain"),
                (fit(words, max(1, width - 14)), "quiet"),
            ]
            for name, words in rows
        ]
        return [
            *self.said(view, width),
            [],
            heading("what would end or hold it, the first that applies"),
            *rules,
        ]


def _budgets(governor: GovernorReading, width: int) -> list[Line]:
    """Four bars on the scale of the limits, so that no limit lies beyond its bar."""
    profile = governor.profile
    marks = {
        "effort": ((profile.exhaustion_threshold, "╎"), (profile.effort_dip, "·")),
        "risk": ((profile.max_risk, "╎"),),
        "exploration": ((profile.max_exploration, "╎"),),
        "persistence": ((profile.persistence_dip, "·"),),
    }
    made = []
    for name, value in governor.budgets._asdict().items():
        whole = max(1.0, *(at for at, _ in marks[name]))
        laid = [(at / whole, glyph, "threshold") for at, glyph in marks[name]]
        made.append(gauge(name, value / whole, width, fraction(value), ink=_BUDGET_STYLES[name], marks=laid))
    return made


class PressureCard(Card):
    """What weighs on the run, and what the last step told the governor."""

    TITLE: ClassVar[str] = "Pressures and inputs"
    TALL: ClassVar[tuple[int, int]] = (12, 12)
    HELP: ClassVar[str] = """\
## Pressures and inputs

Pressures only ever add up within an episode; left is negative, right positive, on a common scale.
The inputs are what the last step told the governor, each with its cause. Affect is none of them.
"""

    def said(self, view: View, width: int) -> list[Line]:
        governor = view.frame.governor
        pressures = governor.pressures._asdict()
        reach = max(1.0, *(abs(value) for value in pressures.values()))
        made = [
            signed(
                name, value, width, f"{value:+.2f}", reach=reach, worse_above=name in ("frustration", "risk")
            )
            for name, value in pressures.items()
        ]
        made.append([])
        made.extend(
            [
                (fit(given.name, 11), "quiet"),
                (f"{given.value:+.2f} ", "plain"),
                (fit(given.cause, max(1, width - 17)), "quiet"),
            ]
            for given in governor.inputs
        )
        return made


class GovernedCard(Card):
    """The episodes of the governor, newest first, with the course of effort and how each ended."""

    TITLE: ClassVar[str] = "Governed episodes"
    TALL: ClassVar[tuple[int, int]] = (12, 20)
    HELP: ClassVar[str] = """\
## Governed episodes

From one prompt to the next. The small curve is effort over the steps; `■` names the halt that would
have come, and how many calls followed it.
"""

    def said(self, view: View, width: int) -> list[Line]:
        return self._list(view, width, 6)

    def more(self, view: View, width: int) -> list[Line]:
        return self._list(view, width, 30)

    def _list(self, view: View, width: int, most: int) -> list[Line]:
        governor = view.frame.governor
        if not governor.episodes:
            return [[("no episode has begun", "quiet")]]
        episodes = [governor.episode, *reversed(governor.past)][:most]
        made = [line for episode in episodes for line in self._episode(view, episode, width)]
        halted = [f"#{episode.number}" for episode in (*governor.past, governor.episode) if episode.halt]
        named = f": {', '.join(halted)}" if halted else ""
        total = f"{count(governor.episodes, 'episode')}, {governor.halts} would halt{named}"
        return [*made, *sentence_lines(total, width)]

    def _episode(self, view: View, episode: GovernorEpisode, width: int) -> list[Line]:
        open_ = episode.number == view.frame.governor.episode.number
        points = [point.effort for point in episode.trajectory()]
        room = max(6, min(24, width - 26))
        if len(points) > room:
            points = [points[place * len(points) // room] for place in range(room)]
        lasted = span(max(0.0, episode.closed_at - episode.opened_at))
        head: Line = [
            ("▶" if open_ else " ", "live"),
            (f"{episode.number:>3} ", "quiet"),
            (f"{clock(episode.opened_at - view.start)} ", "quiet"),
            (fit(sparkline(points), room) + " ", "confidence"),
            (count(episode.steps, "step").rjust(10), "plain"),
        ]
        if episode.halt:
            after = f", {episode.after_halt} after" if episode.after_halt else ""
            words = f"     ■ {episode.halt} at step {episode.steps}{after}"
            return [head, [(fit(words, width), "alert")]]
        dips = f", {count(episode.dips, 'dip')}" if episode.dips else ""
        return [head, [(fit(f"       {lasted}, {episode.fruitless} fruitless{dips}", width), "quiet")]]
