"""The board of the mind: every card at every size, alone and empty."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.engine.mind.homeostasis import RuleState
from core.events import MAIN, SessionStart
from tests.tui.conftest import shown, until
from tests.tui.panel_app import text, view_at
from tests.tui.screen_app import Stage, recorded, recording_of
from tui.app import NooscopeApp
from tui.draw.line import STYLES, clipped
from tui.feed.view import View
from tui.screens.branches import BranchScreen
from tui.screens.main import MainScreen
from tui.screens.model import AffectScreen, GovernorScreen, MindScreen, ModelTab, ResponseScreen, TabLine
from tui.widgets.common.card import Card, pair, signed
from tui.widgets.model.mind import (
    ClockCard,
    CorticalCard,
    EpisodeCard,
    HabituationCard,
    HeartbeatCard,
    HomeostasisCard,
    SleepCard,
    TierCard,
    WakeupCard,
)

WIDTHS = (32, 33, 34, 36, 56, 62, 116, 196)


@pytest.mark.parametrize(
    "kind", (*MindScreen.CARDS, *GovernorScreen.CARDS, *AffectScreen.CARDS), ids=lambda kind: kind.__name__
)
async def test_no_card_is_clipped(kind: type[Card]) -> None:
    card = kind()
    app = Stage(card)
    async with app.run_test(size=(60, 40)):
        for index in (0, 1, 40, 600):
            view = view_at(recorded(), index)
            for width in WIDTHS:
                brief, long = list(card.brief(view, width)), list(card.more(view, width))
                for line in (*brief, *(long if width >= 56 else [])):
                    assert sum(len(piece) for piece, _ in line) <= width, text([line])
                    assert {ink for _, ink in line} <= set(STYLES)


@pytest.mark.parametrize("width", range(1, 14))
def test_a_line_is_cut_to_its_width(width: int) -> None:
    line = [("one ", "plain"), ("two ", "quiet"), ("three", "plain")]
    made = text([clipped(line, width)])
    assert len(made) <= width
    assert made == "one two three" if width == 13 else made.endswith("…")


async def seen(kind: type[Card], view: View, width: int = 60) -> str:
    """What a card says of a moment."""
    card = kind()
    app = Stage(card)
    async with app.run_test(size=(width + 4, 50)) as pilot:
        card.view = view
        await pilot.pause()
        return app.inside(card)


async def test_clock_counts_down() -> None:
    view = view_at(recorded(), 600)
    beat = replace(
        view.frame.mind.clock, theta_in=3.0, theta_interval=30.0, delta_in=1, slowed=2.0, violations=4, dropped=1
    )
    mind = replace(view.frame.mind, clock=beat)
    shown = await seen(ClockCard, replace(view, frame=replace(view.frame, mind=mind)))
    assert "one every 30s" in shown and " 3s" in shown
    assert "next in 1 theta tick" in shown and "ticks\n" not in shown.split("next in")[1][:14]
    assert "slowed 2.0x" in shown and "quickened by 4 surprises" in shown and "1 tick left out" in shown


async def test_cortical_state_in_words_and_figures() -> None:
    view = view_at(recorded(), 600)
    mind = view.frame.mind
    shown = await seen(CorticalCard, view)
    assert mind.cortical.emotion in shown and view.frame.story.phase in shown and mind.cortical.tier in shown
    assert f"{mind.mood.pleasure:+.2f}" in shown
    assert f"{mind.forecast.skill:+.2f} over {mind.forecast.scored:,} calls" in shown


async def test_a_regime_on_its_way_is_named() -> None:
    view = view_at(recorded(), 600)
    regime = replace(view.frame.mind.regime, regime="calm", candidate="crisis", lasting=3.0, needed=6.0)
    mind = replace(view.frame.mind, regime=regime)
    story = replace(view.frame.story, regime="calm")
    assert "calm → crisis? 50%" in await seen(
        CorticalCard, replace(view, frame=replace(view.frame, mind=mind, story=story))
    )


async def test_a_rule_that_corrects_says_so() -> None:
    view = view_at(recorded(), 600)
    rule = RuleState("vitality", "tool_trust", 0.8, -0.3, 0.1, 12, 10, 0.09)
    home = replace(view.frame.mind.homeostasis, rules=(rule,), held=("tool_trust",), intensive=True)
    mind = replace(view.frame.mind, homeostasis=home)
    shown = await seen(HomeostasisCard, replace(view, frame=replace(view.frame, mind=mind)))
    assert "-0.30" in shown and "tool trust +0.09" in shown and "held: tool_trust" in shown and "intensive" in shown


async def test_familiar_patterns_by_attenuation() -> None:
    view = view_at(recorded(), 600)
    shown = await seen(HabituationCard, view)
    first = view.frame.mind.habituation.familiar[0]
    assert first.what[:10] in shown and f"x{first.exposures:.0f}" in shown
    assert "nothing has happened twice" in await seen(HabituationCard, view_at(recorded(), 0))


async def test_sleep_and_its_dreams() -> None:
    view = view_at(recorded(), 600)
    shown = await seen(SleepCard, view)
    sleep = view.frame.mind.sleep
    assert f"{100 * sleep.pressure:.0f}%" in shown
    assert f"{sleep.accumulator:.2f} of {sleep.threshold:.2f}" in shown
    assert shown.count("◦") == min(3, len(view.frame.mind.dreams))


async def test_episodes_tiers_and_wakeups() -> None:
    view = view_at(recorded(), 600)
    mind = view.frame.mind
    assert mind.episodes.last is not None
    episodes = await seen(EpisodeCard, view)
    assert f"#{mind.episodes.last.number}" in episodes and mind.episodes.leaning in episodes
    assert mind.episodes.last.trace[-2:] in episodes
    tiers = await seen(TierCard, view)
    assert "large" in tiers and f"${mind.tiers.total_money:,.2f}" in tiers
    assert "session" in await seen(TierCard, replace(view, agents=(MAIN,)))
    several = await seen(TierCard, replace(view, agents=(MAIN, "explorer")))
    assert "this agent" in several and "session" not in several
    wakeups = await seen(WakeupCard, view)
    fired = [trigger for trigger in mind.triggers if trigger.fired]
    assert wakeups.count("●") == len(fired) and wakeups.count("○") == len(mind.triggers) - len(fired)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_cards_fill_columns_and_never_overlap(size: tuple[int, int]) -> None:
    app = Stage(MindScreen(), recorded())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        cards = list(app.screen.query(Card))
        regions = [card.virtual_region for card in cards]
        assert len(cards) == len(MindScreen.CARDS)
        for number, region in enumerate(regions):
            assert all(not region.overlaps(other) for other in regions[number + 1 :])
        columns = {region.x for region in regions}
        assert len(columns) == (2 if size[0] == 80 else 3)
        bottoms = {max(region.bottom for region in regions if region.x == column) for column in columns}
        assert len(bottoms) == 1


async def test_cards_stay_in_their_columns_while_time_passes() -> None:
    app = Stage(MindScreen(), recorded(), 1)
    async with app.run_test(size=(120, 40)) as pilot:
        app.show(60)
        await pilot.pause()
        places = [card.virtual_region.x for card in app.screen.query(Card)]
        for index in (120, 300, 600):
            app.show(index)
            await pilot.pause()
            assert [card.virtual_region.x for card in app.screen.query(Card)] == places


async def test_keys_zoom_and_leave() -> None:
    app = Stage(MindScreen(), recorded())
    async with app.run_test(size=(80, 26)) as pilot:
        assert isinstance(app.focused, CorticalCard)
        await pilot.press("enter")
        assert app.screen.maximized is app.focused
        assert "Brier score" not in app.seen()
        await pilot.press(*("down",) * 20, "up")
        assert "Brier score" in app.seen()
        await pilot.press("enter")
        assert app.screen.maximized is None and "Brier score" not in app.seen()
        await pilot.press("enter", "escape")
        assert app.screen.maximized is None and not app.left
        visited = []
        for _ in MindScreen.CARDS:
            await pilot.press("tab")
            visited.append(type(app.focused))
        assert set(visited) == set(MindScreen.CARDS)
        app.screen.query_one(HabituationCard).focus()
        await until(pilot, lambda: "patterns known" in app.seen())
        lowest = app.screen.query_one("#board").scroll_offset.y
        await pilot.press("right", "pageup", "up")
        assert app.stepped == [1]
        await until(pilot, lambda: app.screen.query_one("#board").scroll_offset.y < lowest)
        await pilot.press("m")
        assert app.left


@pytest.mark.parametrize(
    ("screen", "readings"),
    [
        (MindScreen, ("emotion", "regime", "sleep pressure", "budget left")),
        (GovernorScreen, ("state", "effort", "no progress for", "would halt")),
        (AffectScreen, ("affect", "volatility", "strongest field")),
        (ResponseScreen, ("outlook", "pressure to ask", "loop", "last response")),
    ],
)
async def test_a_tab_begins_with_the_readings_that_matter(screen: type[ModelTab], readings: tuple[str, ...]) -> None:
    app = Stage(screen(), recorded())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        line = app.screen.query_one(TabLine).render_line(1).text
        assert [name for name in readings if f"{name} " in line] == list(readings)


async def test_rich_where_there_is_room() -> None:
    app = Stage(MindScreen(), recorded())
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        assert "Brier score" in app.seen() and "so far" in app.seen()


async def test_resized_while_shown() -> None:
    app = Stage(MindScreen(), recorded())
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "Brier score" not in app.seen() and "Cortical state" in app.seen()


async def test_before_the_first_event() -> None:
    app = Stage(MindScreen())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert all("waiting for the first event" in app.inside(card) for card in app.screen.query(Card))
        app.timeline = recording_of([SessionStart(at=1_760_000_000.0, session="s", tool="t")])
        app.show(1)
        await pilot.pause()
        assert not any("waiting" in app.inside(card) for card in app.screen.query(Card))


def test_pair_and_signed_bars() -> None:
    assert text([pair("name", "value", 20)]) == "name           value"
    assert text([pair("name", "value", 60)]).index("value") == 27
    low, high = signed("x", -1.0, 40, "-1.00"), signed("x", 1.0, 40, "+1.00")
    assert ("▄" * 9, "fatigue") in low and ("▄" * 10, "confidence") in high


async def test_number_keys_open_the_tabs_of_the_model(log: Path, app_on: Callable[..., NooscopeApp]) -> None:
    app = app_on(log)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, MindScreen))
        kinds: list[type[ModelTab]] = [MindScreen, GovernorScreen, AffectScreen, ResponseScreen, BranchScreen]
        for number, kind in reversed(list(enumerate(kinds, 1))):
            await pilot.press(str(number))
            await until(pilot, lambda kind=kind: isinstance(app.screen, kind))  # type: ignore[misc]
            line = app.screen.query_one(TabLine).render_line(0).text
            assert f"[{number} " in line and line.count("[") == 1
            assert len(app.screen_stack) == 2
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))


async def test_the_heartbeat_has_nine_steps_with_what_was_done() -> None:
    app = Stage(MindScreen(), recorded())
    async with app.run_test(size=(120, 60)) as pilot:
        app.screen.query_one(HeartbeatCard).focus()
        await pilot.press("enter")
        for step in ("1 observe", "2 retrieve", "3 analyze", "4 gate", "5 deliberate", "6 validate", "9 reflect"):
            assert step in app.seen()
        assert "balanced signals out of bounds" in app.seen() and "so far" in app.seen()
