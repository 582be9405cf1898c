"""A stage for one panel: an app that holds it at a size and in a theme, and moments made by hand."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from textual.app import App, ComposeResult

import themes
from core.engine.mind.readings import SalienceReading
from core.engine.mind.sleep import Dream
from core.engine.percept import AXES, Axis
from core.engine.receptor.readings import AxisReading, Contribution, GateReading, HeldReading, MetaReading, Why
from core.events import MAIN
from core.settings import Settings
from core.timeline.marks import Mark
from core.timeline.run import NAMES, Track
from core.timeline.timeline import Timeline
from tui.draw.line import STYLES, Line
from tui.feed.messages import Seek
from tui.feed.view import View
from tui.widgets.common.panel import Panel

START = 1_760_000_000.0
EVENTS = 240
STEP = 10.0
"""Seconds between two events of the moments made by hand."""

SIZES = ((24, 4), (24, 6), (34, 7), (36, 8), (44, 6), (56, 12), (76, 22), (116, 38), (196, 58))
"""Content sizes a panel meets, from a corner of 80x24 to the whole of 200x60."""


class PanelApp(App[None]):
    """One panel of a given size, focused, with what it posts kept."""

    def __init__(
        self,
        panel: Panel,
        view: View | None,
        recording: Timeline | None = None,
        *,
        theme: str = "nocturne",
        size: tuple[int, int] = (60, 12),
        detailed: bool = False,
    ) -> None:
        super().__init__()
        self.panel = panel
        self._shown = view
        self._past = recording
        for each in themes.load().themes:
            self.register_theme(each)
        self.theme = theme
        self._room = size
        self._zoomed = detailed
        self.sought: list[int] = []
        self.agents: list[str] = []
        self.zoomed: list[Panel] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.defaults(self.current_theme)

    def compose(self) -> ComposeResult:
        self.panel.styles.width, self.panel.styles.height = self._room
        yield self.panel

    def on_mount(self) -> None:
        self.panel.recording = self._past
        self.panel.detailed = self._zoomed
        self.panel.view = self._shown

    def on_seek(self, message: Seek) -> None:
        self.sought.append(message.to)
        self.agents.append(message.agent)

    def on_panel_zoom(self, message: Panel.Zoom) -> None:
        self.zoomed.append(message.panel)

    def seen(self) -> str:
        """What the panel shows, as text."""
        return "\n".join(self.panel.render_line(y).text.rstrip() for y in range(self.panel.size.height))


def text(lines: list[Line]) -> str:
    """Lines as plain text."""
    return "\n".join("".join(piece for piece, _ in line).rstrip() for line in lines)


def check(lines: list[Line], width: int, height: int) -> None:
    """Nothing is clipped, and every style exists."""
    assert len(lines) <= height
    for line in lines:
        assert sum(len(piece) for piece, _ in line) <= width, text([line])
        assert {ink for _, ink in line} <= set(STYLES)


def view_at(timeline: Timeline, index: int, agent: str = MAIN) -> View:
    """A recorded moment as the screen gets it."""
    society = timeline.society_at(index)
    frame = society.frame(agent)
    return View(
        frame=frame,
        people=society.read(),
        why=tuple(society.engine(agent).receptor.why(axis, frame.at) for axis in AXES),
        agent=agent,
        agents=timeline.agents,
        index=index,
        total=len(timeline),
        start=timeline.time_of(0),
        at=timeline.time_of(index),
        end=timeline.time_of(len(timeline)),
    )


def axis(name: Axis, value: float, threshold: float, baseline: float, **more: Any) -> AxisReading:
    """One axis; its offset is what is missing from baseline to threshold."""
    given: dict[str, Any] = {"field": 0.0, "trend": 0.0, "firing": False, "held": False, "release": 0, **more}
    offset = threshold - baseline - given["field"]
    return AxisReading(axis=name, value=value, threshold=threshold, baseline=baseline, **{"offset": offset, **given})


def item(score: float, arrived: float, kind: Any, what: str, age: float, **more: Any) -> SalienceReading:
    """One entry of the queue, its terms such that the usual weights give what it came with."""
    given: dict[str, Any] = {"cause": "failure", "times": 1, "promoted": True, **more}
    return SalienceReading(
        score=score,
        arrived_with=arrived,
        kind=kind,
        what=what,
        age=age,
        at=START + 2000.0,
        novelty=0.5,
        relevance=(arrived - 0.2 - 0.25 * 0.4) / 0.35,
        urgency=0.4,
        **given,
    )


MARKS = (
    (2, "prompt", "prompt", 420.0),
    (30, "signal", "confidence_sustained", 0.08),
    (44, "signal", "flow_active", 0.11),
    (80, "shift", "context shift", 0.0),
    (96, "compaction", "auto", 166_400.0),
    (96, "dream", "compaction", 0.62),
    (130, "signal", "seeking_spike", 0.07),
    (151, "state", "stuck", 0.0),
    (160, "dream", "pressure", 1.0),
    (190, "quarantine", "enters", 0.0),
    (204, "quarantine", "leaves", 0.0),
    (221, "halt", "STAGNATION", 20.0),
    (230, "method", "frustration_alert", 0.31),
    (236, "signal", "compound_frustration_seeking", 0.26),
)


def recording(marks: tuple[tuple[int, Any, str, float], ...] = MARKS) -> Timeline:
    """A recording with marks and curves of our own, and no events behind them."""
    timeline = Timeline(Settings())
    timeline.marks.adopt([Mark(p, START + STEP * p, MAIN, kind, name, weight) for p, kind, name, weight in marks])
    track = Track(START)
    for place in range(EVENTS):
        wave = abs((place * 7) % 120 - 60) / 60.0
        row = dict.fromkeys(NAMES, 0.0)
        row |= {f"axis.{name}": wave * (number + 2) / 8.0 for number, name in enumerate(AXES)}
        row |= {"at": STEP * place, "sleep": (place % 160) / 160.0, "context": (place % 97) / 100.0}
        track.indexes.append(place)
        track.columns.append([row[name] for name in NAMES])
    timeline.tracks[MAIN] = track
    return timeline


def stuck() -> View:
    """An agent that is frustrated and searching, with a nearly full context."""
    base = Timeline(Settings())
    frame = base.at(0)
    axes = (
        axis("frustration", 0.71, 0.45, 0.31, field=-0.06, trend=0.12, firing=True, release=3),
        axis("seeking", 0.34, 0.41, 0.25, field=-0.09, trend=-0.05, firing=True, held=True, release=2),
        axis("confidence", 0.12, 0.38, 0.13, trend=-0.2),
        axis("fatigue", 0.22, 0.55, 0.25),
        axis("flow", 0.08, 0.45, 0.25),
        axis("uncertainty", 0.19, 0.25, 0.04, field=-0.09, trend=0.04),
    )
    receptor = replace(
        frame.receptor,
        axes=axes,
        gate=GateReading(value=0.08, threshold=0.45, firing=False),
        held=(
            HeldReading("frustration", "compound_frustration_seeking", 0.26, 3),
            HeldReading("seeking", "compound_frustration_seeking", 0.0, 2),
        ),
        meta=MetaReading(
            state="stuck",
            rates=(
                ("frustration", 0.55),
                ("seeking", 0.2),
                ("confidence", 0.05),
                ("fatigue", 0.0),
                ("flow", 0.0),
                ("uncertainty", 0.0),
            ),
            field=(("frustration", -0.06), ("seeking", -0.09), ("uncertainty", -0.09)),
            buffer=(None,) * 4 + ("confidence",) + ("seeking",) * 4 + ("frustration",) * 11,
        ),
    )
    sleep = replace(
        frame.mind.sleep,
        pressure=0.71,
        accumulator=21.4,
        threshold=30.0,
        ticks=7,
        minutes=11.5,
        dream_ticks=9,
        context=0.89,
        context_tokens=148_200,
        compaction_point=167_000,
        turns_to_compaction=12,
        compactions=1,
        compacted_at=START + 960.0,
    )
    mind = replace(
        frame.mind,
        sleep=sleep,
        dreams=(
            Dream(0, START + 960.0, 30, "compaction", 0.62, 11, 3, 2, 4, True),
            Dream(1, START + 1600.0, 80, "pressure", 1.0, 5, 1, 0, 2, True),
        ),
        dream_count=2,
        salience=(
            item(0.83, 0.88, "anomaly", "pytest failed x4", 12.0, cause="streak", times=3),
            item(0.41, 0.63, "owner_message", "prompt, 41 tokens", 74.0, cause="prompt"),
            item(0.12, 0.47, "trace", "agent explorer reports", 141.0, cause="report", promoted=False),
        ),
        queued=9,
    )
    return View(
        frame=replace(
            frame,
            receptor=receptor,
            mind=mind,
            story=replace(frame.story, state="stuck"),
            at=START + STEP * EVENTS,
            events=EVENTS,
        ),
        people=base.society_at(0).read(),
        why=(
            Why(
                axis="frustration",
                value=0.71,
                contributions=(
                    Contribution(238, START + 2380.0, "shell_failure", 0.31, 0.4),
                    Contribution(231, START + 2310.0, "shell_failure", 0.12, 0.2),
                    Contribution(231, START + 2310.0, "trial_error", 0.24, 0.3),
                    Contribution(200, START + 2000.0, "shell_success", -0.02, -0.08),
                ),
                older=0.06,
            ),
        ),
        agents=(MAIN, "explorer"),
        index=EVENTS,
        total=EVENTS,
        start=START,
        at=START + STEP * EVENTS,
        end=START + STEP * EVENTS,
    )


def flowing() -> View:
    """The same agent on a good day: A fires, B rests, nothing waits."""
    view = stuck()
    receptor = view.frame.receptor
    calm = tuple(
        axis(one.axis, 0.62 if one.axis == "flow" else 0.1, 0.45, 0.25, firing=one.axis == "flow")
        for one in receptor.axes
    )
    meta = replace(receptor.meta, state="deep_work", field=tuple((name, 0.0) for name, _ in receptor.meta.field))
    receptor = replace(
        receptor, axes=calm, gate=GateReading(value=0.62, threshold=0.45, firing=True), held=(), signals=(), meta=meta
    )
    mind = replace(view.frame.mind, salience=(), queued=0)
    story = replace(view.frame.story, state="deep_work", flowing=True)
    frame = replace(view.frame, receptor=receptor, mind=mind, story=story)
    return replace(view, frame=frame, index=50, at=START + 500.0)
