"""The response screen: every term, the memo word for word, what was told, and the outlook."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.engine.response.interventions import Intervention, PastIntervention, QueueReading
from core.engine.response.outlook import Direction, OutlookReading, Reason
from core.engine.response.reaction import ResponseReading
from core.live.status import Status
from tests.tui.panel_app import text, view_at
from tests.tui.screen_app import Stage, recorded
from tui.draw.line import STYLES
from tui.feed.view import View
from tui.screens.model import ResponseScreen
from tui.widgets.common.card import Card, signed
from tui.widgets.model.response import (
    CandidateCard,
    FactsCard,
    LearnedCard,
    MemoCard,
    OutlookCard,
    PressureToAskCard,
    QueueCard,
    ToldCard,
)


def with_response(view: View, **changed: object) -> View:
    """A view whose response differs."""
    response: ResponseReading = replace(view.frame.response, **changed)
    return replace(view, frame=replace(view.frame, response=response))


async def seen(kind: type[Card], view: View, width: int = 70, *, alone: bool = False) -> str:
    """What a card says of a moment."""
    card = kind()
    app = Stage(card)
    async with app.run_test(size=(width + 4, 70)) as pilot:
        card.detailed = alone
        card.view = view
        await pilot.pause()
        return text(list(card.more(view, width) if alone else card.brief(view, width)))


def word(message: str = "look at the mock", number: int = 1) -> Intervention:
    return Intervention(number, "follow_up", "decide", None, False, message, 160, "engram_probe", 100.0, 400.0, "stuck")


@pytest.mark.parametrize("kind", ResponseScreen.CARDS, ids=lambda kind: kind.__name__)
async def test_no_card_is_clipped(kind: type[Card]) -> None:
    card = kind()
    app = Stage(card)
    async with app.run_test(size=(60, 40)):
        for index in (0, 1, 40, 600):
            view = view_at(recorded(), index)
            for width in (32, 36, 56, 76, 91, 92, 116, 196):
                for line in (*card.brief(view, width), *card.more(view, width)):
                    assert sum(len(piece) for piece, _ in line) <= width, text([line])
                    assert {ink for _, ink in line} <= set(STYLES)


async def test_the_terms_of_a_score_multiply_to_it() -> None:
    view = view_at(recorded(), 600)
    one = replace(
        view.frame.response.candidates[0],
        id="frustration_alert",
        cue="frustration",
        signal_match=1.0,
        state_match=0.5,
        intensity=0.4,
        sensitivity=0.8,
        learned=1.1,
        recency=1.0,
        score=0.176,
        threshold=0.1,
        fired=True,
        why="fired: 0.176 is above 0.1",
    )
    shown = await seen(CandidateCard, with_response(view, candidates=(one,)), 100, alone=True)
    row = next(line for line in shown.splitlines() if "warns: failures" in line)
    assert row.split()[:3] == ["◆", "warns:", "failures"]
    state, signal, sensitivity, learned, rested, score = map(float, row.split()[3:9])
    assert state * signal * sensitivity * learned * rested == pytest.approx(score)
    assert "fired: 0.176 is above 0.1" in shown


@pytest.mark.parametrize(("pressure", "asked"), [(0.59, False), (0.6, True), (0.61, True)])
async def test_pressure_against_its_threshold(pressure: float, asked: bool) -> None:
    view = with_response(view_at(recorded(), 600), pressure=pressure, asks_at=0.6)
    shown = await seen(PressureToAskCard, view)
    assert ("reached" in shown) is asked
    assert "threshold .60" in shown and "╎" in shown


async def test_the_memo_word_for_word() -> None:
    view = with_response(view_at(recorded(), 600), memo_text="[ask_person] Needs you: stuck.")
    assert "[ask_person] Needs you: stuck." in await seen(MemoCard, view)
    assert "empty" in await seen(MemoCard, with_response(view, memo_text=""))


async def test_what_waits_and_what_was_told_with_before_and_after() -> None:
    view = replace(view_at(recorded(), 600), at=110.0)
    told = (
        PastIntervention(word("first"), "delivered", view.start + 60.0, 0.7, "deep_work", 0.2),
        PastIntervention(word("second", 2), "delivered", view.start + 90.0, 0.6, None, None),
        PastIntervention(word("third", 3), "expired", view.start + 95.0, 0.5, None, None),
    )
    queue = QueueReading((word("next"),), told, 4)
    view = with_response(view, queue=queue)
    shown = await seen(ToldCard, view)
    assert "frustration before: stuck .70, after: deep work .20 ▼" in shown
    assert "not yet known" in shown and "its moment never came" in shown
    assert shown.index("third") < shown.index("second") < shown.index("first")
    waits = await seen(QueueCard, view)
    assert "next" in waits and "before its next decision, from “similar episode found”, 4m 50s left" in waits


async def test_outlook_says_direction_band_and_reasons() -> None:
    reasons = (
        Reason("failures", 9, 0.8, "9 calls failed, more than usual: worse"),
        Reason("tests", 4, -0.3, "4 test runs, more than usual: better"),
    )
    reading = OutlookReading("20", "worse", 0.9, 0.3, None, reasons, "runs")
    shown = await seen(OutlookCard, with_response(view_at(recorded(), 600), outlook=reading), alone=True)
    assert "worse than usual" in shown and "+0.9 (+0.6 to +1.2)" in shown
    assert "▼ 9 calls failed" in shown and "▲ 4 test runs" in shown
    early = OutlookReading("too early", "too early", 0.0, 0.0, None, (), "runs")
    assert "too early" in await seen(OutlookCard, with_response(view_at(recorded(), 600), outlook=early))


@pytest.mark.parametrize(
    ("direction", "status", "said"),
    [
        ("better", Status("looping", 2, 0.0, ""), "statistics look good, but it is looping now"),
        ("better", Status("working", 1, 0.0, ""), ""),
        ("better", Status("done", 2, 0.0, ""), ""),
        ("worse", Status("looping", 2, 0.0, ""), ""),
        ("better", None, ""),
    ],
)
async def test_a_good_outlook_does_not_hide_that_it_is_in_trouble(
    direction: Direction, status: Status | None, said: str
) -> None:
    reading = OutlookReading("20", direction, -0.9, 0.3, None, (), "runs")
    view = replace(with_response(view_at(recorded(), 600), outlook=reading), status=status)
    story = replace(view.frame.story, state="exploring", regime="calm")
    shown = await seen(OutlookCard, replace(view, frame=replace(view.frame, story=story)))
    assert said in shown and ("but it is" in shown) == bool(said)


async def test_learned_deltas_and_facts() -> None:
    view = view_at(recorded(), 600)
    assert "nothing learned" in await seen(LearnedCard, with_response(view, learned=()))
    assert "-0.12" in await seen(LearnedCard, with_response(view, learned=(("frustration", -0.12),)))
    facts = view.frame.receptor.facts
    shown = await seen(FactsCard, view)
    assert f"{facts.actions:,}" in shown and f"{facts.failures_recent} of the last {facts.of_failures}" in shown


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_screen_opens_and_a_card_zooms(size: tuple[int, int]) -> None:
    app = Stage(ResponseScreen(), recorded())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert "Outlook" in app.seen() and "Pressure to ask you" in app.seen()
        await pilot.press("enter")
        await pilot.pause()
        assert app.screen.maximized is not None
        await pilot.press("escape", "m")
        await pilot.pause()
        assert app.left


@pytest.mark.parametrize(("value", "ink"), [(0.9, "frustration"), (-0.9, "confidence")])
def test_a_shift_for_the_worse_has_the_colour_of_trouble(value: float, ink: str) -> None:
    bar = signed("shift", value, 60, f"{value:+.1f}", worse_above=True)
    assert [each for piece, each in bar if "▄" in piece] == [ink]


async def test_methods_that_hear_nothing_are_counted_after_why() -> None:
    shown = await seen(CandidateCard, view_at(recorded(), 1))
    assert "methods: not triggered" in shown
