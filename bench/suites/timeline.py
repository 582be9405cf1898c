"""Recording, seeking, drawing, what-ifs, opening."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.claude import write_log
from bench.measure import Figure, best_of, quantile
from bench.workload import Dice, session
from core.agents.registry import make_kit
from core.engine.society import Society
from core.logs.finder import sessions
from core.settings import Settings
from core.settings.layers import Given, Layer, resolve
from core.timeline.opening import last_screen
from core.timeline.rerun import rerun_with, sim
from core.timeline.timeline import Timeline

LONG = 100_000
SHORT = 10_000
PAIRS = 9
LARGE = 1_000_000_000


def figures() -> list[Figure]:
    events = session(LONG)
    timeline = Timeline(Settings())
    start = time.process_time()
    timeline.extend(events)
    recording = time.process_time() - start
    return [
        Figure("recording", LONG / recording, "events/s", 12_000, "higher", note="with columns, marks and key frames"),
        _beside_the_step(),
        Figure(
            "key frames of 100,000 events",
            timeline.frames.bytes / 1e6,
            "MB",
            50,
            note=f"{timeline.frames.bytes / LONG:,.0f} bytes an event, {len(timeline.frames)} frames",
        ),
        *_seeks(timeline),
        _draw(timeline),
        _whatif(),
        _thresholds(),
        _first_screen(),
    ]


def _seeks(timeline: Timeline) -> list[Figure]:
    waits = seek_times(timeline)
    return [
        Figure("seek in 100,000 events, p50", quantile(waits, 0.5), "ms"),
        Figure("seek in 100,000 events, p99", quantile(waits, 0.99), "ms", 12),
    ]


def seek_times(timeline: Timeline) -> list[float]:
    """Milliseconds of seeks to places anywhere."""
    dice = Dice(5)
    waits = []
    for _ in range(300):
        index = dice.below(len(timeline))
        start = time.process_time()
        timeline.at(index)
        waits.append(1000 * (time.process_time() - start))
    return waits


def _draw(timeline: Timeline) -> Figure:
    columns = timeline.tracks["main"].columns
    columns.envelope("axis.frustration", 0, LONG, 200)
    seconds = best_of(lambda: columns.envelope("axis.frustration", 17, LONG - 3, 200), 20)
    return Figure("envelope of 100,000 rows at width 200", 1000 * seconds, "ms", 1)


def _whatif() -> Figure:
    timeline = Timeline(Settings())
    timeline.extend(session(SHORT))
    other = resolve([Layer("bench", (Given("receptor.ambient.offset.frustration", 0.1),))]).settings

    def run() -> None:
        branch = sim(timeline, other)
        branch.grow()
        branch.difference()

    return Figure("what-if of 10,000 events", best_of(run, 3), "s", 0.2)


def _beside_the_step() -> Figure:
    """What recording costs, in steps of the same events, each time beside them: the machine may slow down."""
    events = session(SHORT)

    def step() -> None:
        society = Society(Settings())
        for event in events:
            society.step(event)

    def record() -> None:
        Timeline(Settings()).extend(events)

    ratio = quantile([best_of(record, 1) / best_of(step, 1) for _ in range(PAIRS)], 0.5)
    return Figure("recording beside the step", ratio, "x", 1.5, "lower", "the step alone", ratio)


def _thresholds() -> Figure:
    timeline = Timeline(Settings())
    timeline.extend(session(SHORT))

    def run() -> None:
        rerun = rerun_with(timeline, {"receptor.ambient.offset.frustration": 0.1}, whole=False)
        while rerun.advance(SHORT):
            pass

    return Figure("what-if on a threshold, 10,000 events", 1000 * best_of(run, 5), "ms", 100)


def _first_screen() -> Figure:
    with tempfile.TemporaryDirectory(prefix="nooscope-bench-") as name:
        path = Path(name) / "large.jsonl"
        write_log(path, LARGE)
        settings = Settings()
        end = round(settings.screen.tail * 1_000_000)

        def tail() -> None:
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - end))
                file.read()

        bare = best_of(tail, 3)
        start = time.perf_counter()
        kit = make_kit()
        (found,) = sessions([path], kit)
        timeline = last_screen(found, settings, kit, end)
        timeline.live(timeline.events[-1].at)
        seconds = time.perf_counter() - start
    note = f"{len(timeline):,} events of the last {end / 1e6:.0f} MB, found and read"
    return Figure("first screen of a 1 GB log", seconds, "s", 0.5, "lower", "reading its end", seconds / bare, note)
