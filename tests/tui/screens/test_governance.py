"""The board of governor and affect: budgets, halts, fields, quarantine, lineage and society."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.engine.affect.contagion import ZoneReading
from core.engine.affect.fields import FIELDS
from core.engine.affect.lineage import LineageEntry
from core.engine.affect.reading import RESTRICTIONS
from core.engine.governor.machine import Pressures
from core.engine.society import AgentReading
from tests.tui.panel_app import view_at
from tests.tui.screen_app import Stage, recorded
from tui.draw.line import tree_guides
from tui.feed.view import View
from tui.screens.model import AffectScreen, GovernorScreen
from tui.widgets.common.card import Card
from tui.widgets.model.governance import (
    FieldCard,
    GovernedCard,
    GovernorCard,
    LineageCard,
    ModulationCard,
    PressureCard,
    QuarantineCard,
    SocietyCard,
)


async def seen(kind: type[Card], view: View, width: int = 60) -> str:
    """What a card says of a moment."""
    card = kind()
    app = Stage(card)
    async with app.run_test(size=(width + 4, 60)) as pilot:
        card.view = view
        await pilot.pause()
        return app.inside(card)


def halted() -> View:
    """A moment at which a strict governor would have halted."""
    timeline = recorded(600, 3, "conservative")
    halt = next(mark for mark in timeline.marks if mark.kind == "halt" and mark.agent == "main")
    return view_at(timeline, halt.place + 1)


async def test_halt_in_words() -> None:
    view = halted()
    governor = view.frame.governor
    shown = " ".join((await seen(GovernorCard, view)).split())
    assert "■ HALTED" in shown and governor.would_halt in shown
    calm = await seen(GovernorCard, view_at(recorded(), 30))
    assert "would not halt" in calm and "● IDLE" in calm


async def test_calls_after_the_halt_are_counted() -> None:
    view = halted()
    governor = replace(view.frame.governor, after_halt=3)
    shown = await seen(GovernorCard, replace(view, frame=replace(view.frame, governor=governor)))
    assert "went on for 3 calls" in shown


async def test_budgets_show_value_and_limit() -> None:
    view = view_at(recorded(), 30)
    shown = await seen(GovernorCard, view)
    for name in view.frame.governor.budgets._fields:
        line = next(line for line in shown.splitlines() if line.startswith(name))
        assert "╎" in line or "·" in line


async def test_pressures_left_and_right() -> None:
    view = view_at(recorded(), 300)
    governor = replace(view.frame.governor, pressures=Pressures(3.0, 0.0, -3.0, 0.0, 0.0))
    lines = (await seen(PressureCard, replace(view, frame=replace(view.frame, governor=governor)))).splitlines()
    assert "+3.00" in lines[0] and "-3.00" in lines[2]
    for given in governor.inputs:
        assert any(given.name in line and given.cause[:20] in line for line in lines)


async def test_past_episodes_name_their_halt() -> None:
    view = view_at(recorded(600, 3, "conservative"), 600)
    governor = view.frame.governor
    shown = await seen(GovernedCard, view)
    assert any(episode.halt for episode in governor.past)
    assert "■" in shown and f"{governor.halts} would halt: #" in shown
    assert f"{governor.episodes} episodes" in shown


async def test_fields_have_marks_and_distance() -> None:
    view = view_at(recorded(), 600)
    fields = list(view.frame.affect.fields)
    fields[0] = replace(fields[0], magnitude=fields[0].rest)
    fields[5] = replace(fields[5], magnitude=0.9, rest=0.4)
    affect = replace(view.frame.affect, fields=tuple(fields))
    lines = (await seen(FieldCard, replace(view, frame=replace(view.frame, affect=affect)))).splitlines()
    assert all("[" in line and "]" in line and "╎" in line for line in lines[:7])
    assert "rest" in lines[0] and "+0.50" in lines[5]


async def test_modulation_against_neutral() -> None:
    view = view_at(recorded(), 600)
    bent = view.frame.affect.modulation._replace(promotion_threshold=0.5, persistence=2.0, search_breadth=5.0)
    affect = replace(view.frame.affect, modulation=bent)
    lines = (await seen(ModulationCard, replace(view, frame=replace(view.frame, affect=affect)))).splitlines()
    assert "0.50 ▲ normal 0.30" in lines[0] and "5.00 · normal 5.00" in lines[1] and "2.00 ▼ normal 3.00" in lines[5]


async def test_quarantine_and_its_restrictions() -> None:
    view = view_at(recorded(), 600)
    free = await seen(QuarantineCard, view)
    assert "● trusted" in free and "nothing is restricted" in free
    affect = replace(view.frame.affect, quarantined=True, restrictions=RESTRICTIONS, volatility=1.0)
    shown = await seen(QuarantineCard, replace(view, frame=replace(view.frame, affect=affect)))
    assert "▣ QUARANTINED" in shown and all(word in shown for word in RESTRICTIONS)


async def test_lineage_is_verified() -> None:
    view = view_at(recorded(), 600)
    affect = view.frame.affect
    whole = await seen(LineageCard, view)
    assert "✓ intact" in whole and f"{affect.changes:,} change" in whole
    assert affect.head[:10] not in whole, "the hash is for the details only"
    links = list(affect.lineage)
    forged = bytearray(links[-2].payload)
    forged[90] ^= 1
    links[-2] = LineageEntry(bytes(forged), links[-2].digest)
    broken = replace(view, frame=replace(view.frame, affect=replace(affect, lineage=tuple(links))))
    assert f"✗ altered at link {len(links) - 1} of {len(links)}" in await seen(LineageCard, broken)
    empty = replace(view, frame=replace(view.frame, affect=replace(affect, lineage=())))
    assert "has not changed yet" in await seen(LineageCard, empty)


def agent(name: str, depth: int, **more: object) -> AgentReading:
    given: dict[str, object] = {
        "name": name,
        "parent": "",
        "role": "",
        "depth": depth,
        "started": 0.0,
        "ended": None,
        "outcome": "",
        "events": 3,
        "quarantined": False,
        "quarantines": 0,
        "deviations": (0.0,) * len(FIELDS),
        "awake": True,
        **more,
    }
    return AgentReading(**given)  # type: ignore[arg-type]


async def test_society_as_a_tree() -> None:
    view = view_at(recorded(), 600)
    people = replace(
        view.people,
        agents=(
            agent("main", 0),
            agent("[red]a", 1, role="[red]a", ended=1.0, outcome="success", deviations=(0.3, *(0.0,) * 6)),
            agent("b", 2, role="b", quarantined=True),
            agent("c", 1, role="c", ended=1.0, outcome="failure"),
        ),
        zone=ZoneReading((0.0, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0), ("escalation",)),
    )
    shown = await seen(SocietyCard, replace(view, people=people))
    lines = shown.splitlines()
    assert lines[0].startswith("● main")
    assert lines[1].startswith("├ ✓ [red]a") and lines[1].endswith("uncertainty +0.30")
    assert lines[2].startswith("│ └ ▣ b")
    assert lines[3].startswith("└ ✗ c")
    assert "escalation +0.20" in shown and "escalation runs away" in shown


@pytest.mark.parametrize(
    ("depths", "guides"),
    [
        ([0], [""]),
        ([0, 1, 1], ["", "├ ", "└ "]),
        ([0, 1, 2, 2, 1], ["", "├ ", "│ ├ ", "│ └ ", "└ "]),
        ([0, 1, 2, 0], ["", "└ ", "  └ ", ""]),
    ],
)
def test_lines_of_a_tree(depths: list[int], guides: list[str]) -> None:
    assert tree_guides(depths) == guides


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_board(size: tuple[int, int]) -> None:
    app = Stage(AffectScreen(), recorded())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert isinstance(app.focused, FieldCard)
        titles = [str(card.border_title) for card in app.screen.query(Card)]
        assert titles == [card.TITLE for card in AffectScreen.CARDS]
        for _ in AffectScreen.CARDS:
            if not isinstance(app.focused, SocietyCard):
                await pilot.press("tab")
        assert isinstance(app.focused, SocietyCard)
        await pilot.press("enter")
        assert app.screen.maximized is app.focused
        await pilot.press("escape")
        assert app.screen.maximized is None
        await pilot.press("m")
        assert app.left


async def test_before_the_first_event() -> None:
    app = Stage(GovernorScreen())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("enter", "escape")
        assert all("waiting for the first event" in app.inside(card) for card in app.screen.query(Card))
