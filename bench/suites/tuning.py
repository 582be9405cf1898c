"""The bench: from a slider's move to the comparison redrawn, and sweeps over many sessions."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from textual.app import App

import themes
from bench.claude import write_log
from bench.measure import Figure, best_of
from bench.workload import session
from core.agents.registry import make_kit
from core.engine.society import Society
from core.logs.finder import sessions
from core.settings import Settings
from core.timeline.rerun import Rerun, rerun_with
from core.timeline.run_inputs import RunInputs
from core.timeline.timeline import Timeline
from core.timeline.whatif import WhatIfResult, sweep_session
from tui.cli.commands.tune import sweeps
from tui.draw.line import Line
from tui.feed.view import View
from tui.screens.bench import TuningScreen
from tui.widgets.tuning.comparison import Comparison
from tui.widgets.tuning.settings_list import SettingsList

EVENTS = 10_000
SESSIONS = 20
VALUES = 20
LOG = 2_500_000  # Bytes of a log of the size real ones have.
NAME = "receptor.ambient.offset.frustration"


def figures() -> list[Figure]:
    return [*_slider(), *_sweep()]


def _slider() -> list[Figure]:
    """A key press on the screen, until each picture of what it does has been painted."""
    stage = _Stage()
    first, settled, complete = asyncio.run(_painted(stage))
    events = stage.timeline.events

    def step() -> None:
        society = Society(Settings())
        for event in events:
            society.step(event)

    bare = best_of(step, 2)
    rerun = best_of(lambda: _through(rerun_with(stage.timeline, {NAME: 0.1}, whole=False)), 2)
    return [
        Figure("slider to first partial picture, 10,000 events", 1000 * first, "ms", 60),
        Figure(
            "slider to all signals and curves redrawn",
            1000 * settled,
            "ms",
            300,
            "lower",
            "the receptor alone over the same events",
            settled / rerun,
            "signals, axes and thresholds are exact; the rest follows",
        ),
        Figure(
            "slider to everything redrawn",
            1000 * complete,
            "ms",
            300,
            "lower",
            "the engine alone over the same events",
            complete / bare,
            "methods, halts, quarantine and the mind's figures too",
        ),
    ]


def _through(rerun: Rerun) -> None:
    while rerun.advance(500):
        pass


class _Stage(App[None]):
    """The tuning screen over one recording."""

    def __init__(self) -> None:
        super().__init__()
        self.animation_level = "none"
        self.timeline = Timeline(Settings())
        self.timeline.extend(session(EVENTS))

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.defaults(self.current_theme)

    def on_mount(self) -> None:
        screen = TuningScreen()
        screen.set_reactive(TuningScreen.recording, self.timeline)
        screen.set_reactive(
            TuningScreen.view,
            View(
                frame=self.timeline.at(EVENTS),
                people=self.timeline.society_at(EVENTS).read(),
                index=EVENTS,
                total=EVENTS,
            ),
        )
        self.push_screen(screen)


async def _painted(stage: _Stage) -> tuple[float, float, float]:
    """Seconds from a key press to the first, the settled and the complete picture, medians of several."""
    drawn: list[tuple[float, WhatIfResult | None]] = []
    lines = Comparison.lines

    def noted(self: Comparison, view: View, width: int, height: int) -> list[Line]:
        made = lines(self, view, width, height)
        drawn.append((time.perf_counter(), self.compared))
        return made

    Comparison.lines = noted  # type: ignore[method-assign]
    waits: list[tuple[float, float, float]] = []
    try:
        async with stage.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            for _ in range(5):
                drawn.clear()
                start = time.perf_counter()
                stage.screen.query_one(SettingsList).action_nudge(-1, True)
                while not any(compared is not None and compared.complete for _, compared in drawn):
                    await asyncio.sleep(0.001)
                shown = [(at - start, compared) for at, compared in drawn if compared is not None]
                waits.append(
                    (
                        shown[0][0],
                        next(at for at, compared in shown if compared.settled),
                        next(at for at, compared in shown if compared.complete),
                    )
                )
    finally:
        Comparison.lines = lines  # type: ignore[method-assign]
    first, settled, complete = (sorted(column)[len(waits) // 2] for column in zip(*waits, strict=True))
    return first, settled, complete


def _sweep() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nooscope-bench-") as name:
        folder = Path(name)
        for number in range(SESSIONS):
            write_log(folder / f"{number}.jsonl", LOG, seed=number + 1)
        kit = make_kit()
        found = sessions([folder], kit)
        values = [0.8 * step / (VALUES - 1) for step in range(VALUES)]
        one = best_of(lambda: sweep_session(found[0], Settings(), NAME, values, folder), 1)
        start = time.perf_counter()
        events = sum(
            sweep.events for sweep in sweeps([(one, RunInputs(Settings())) for one in found], NAME, values, None)
        )
        seconds = time.perf_counter() - start
    return [
        Figure(
            "sweep of 20 values over 20 sessions of 2.5 MB",
            seconds,
            "s",
            2.5,
            "lower",
            "20 times one session alone",
            seconds / (SESSIONS * one),
            f"{events:,} events each value",
        )
    ]
