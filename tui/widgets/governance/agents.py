"""The card of a session's agents: who runs, who has reported, and what they feel together."""

from __future__ import annotations

from typing import ClassVar

from core.engine.affect import FIELDS
from core.engine.society import AgentReading
from core.report.formatting import count, plain, span
from tui.draw.line import Line, fit
from tui.draw.tree import tree_guides
from tui.feed.view import View
from tui.widgets.common.agent_names import names_of
from tui.widgets.common.card import Card, pair
from tui.widgets.governance.fields import CHANGED, FIELD_NAMES


class SocietyCard(Card):
    """Everyone in the session as a tree, and what they feel together."""

    TITLE: ClassVar[str] = "Society"
    TALL: ClassVar[tuple[int, int]] = (8, 12)
    HELP: ClassVar[str] = """\
## Society

The main agent and its sub-agents. `●` runs, `✓` `✗` has reported back, `▣` is quarantined; beside each its
events and the field that is furthest from rest. Below, the session's shared mood, and fields whose
contagion is suppressed because they ran away.
"""

    def said(self, view: View, width: int) -> list[Line]:
        return self._list(view, width, 10)

    def more(self, view: View, width: int) -> list[Line]:
        return self._list(view, width, 24 if not self.detailed else 300)

    def _list(self, view: View, width: int, most: int) -> list[Line]:
        people = view.people
        shown = people.agents[:most]
        guides = tree_guides([agent.depth for agent in shown])
        names = names_of(view)
        made = [
            self._agent(view, agent, names.get(agent.name, plain(agent.name, 20)), guide, width)
            for agent, guide in zip(shown, guides, strict=True)
        ]
        if len(people.agents) > most:
            made.append([(f"and {len(people.agents) - most} more", "quiet")])
        made.append([])
        finished = f", {people.finished} finished" if people.finished else ""
        made.append(
            [(fit(f"{people.running} running{finished}, {count(people.rounds, 'round')}", width), "quiet")]
        )
        for session, at in people.neighbours:
            words = f"heard {plain(session, 16)}, in the same folder, {span(max(0.0, view.at - at))} ago"
            made.append([(fit(words, width), "quiet")])
        strongest = _strongest(people.zone.mean)
        if strongest:
            made.append(pair("shared mood", strongest, width))
        made.extend(
            [("! ", "alert"), (fit(f"{FIELD_NAMES[field]} spirals, suppressed", max(1, width - 2)), "alert")]
            for field in people.zone.spirals
        )
        return made

    def _agent(self, view: View, agent: AgentReading, name: str, indent: str, width: int) -> Line:
        if agent.quarantined:
            sign, ink = "▣", "alert"
        elif agent.ended is None:
            sign, ink = "●", "live"
        else:
            sign, ink = ("✓", "confidence") if agent.outcome == "success" else ("✗", "frustration")
        felt = _strongest(agent.deviations)
        room = max(6, width - len(indent) - 2 - 6 - (18 if width >= 34 else 0))
        here = agent.name == view.agent
        line: Line = [
            (indent, "baseline"),
            (f"{sign} ", ink),
            (fit(name, room), "strong" if here else "plain"),
            (f"{agent.events:>6,}", "quiet"),
        ]
        return [*line, (f" {felt:>17}", "quiet")] if width >= 34 else line


def _strongest(deviations: tuple[float, ...]) -> str:
    """The field that is furthest from rest, in words; empty where all are at rest."""
    place = max(range(len(deviations)), key=lambda number: abs(deviations[number]))
    if abs(deviations[place]) < CHANGED:
        return ""
    return f"{FIELD_NAMES[FIELDS[place]]} {deviations[place]:+.2f}"
