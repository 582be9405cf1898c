"""The panels of the main screen, in the order of their keys."""

from __future__ import annotations

from collections.abc import Callable

from tui.widgets.common.panel import Panel
from tui.widgets.main.emotion import EmotionAxes
from tui.widgets.main.paths import PathTree
from tui.widgets.main.salience import SalienceQueue
from tui.widgets.main.signals import SignalFeed
from tui.widgets.main.sleep import SleepGauge
from tui.widgets.main.triangle import NeuronTriangle

PANELS: dict[str, Callable[..., Panel]] = {
    "emotion": EmotionAxes,
    "triangle": NeuronTriangle,
    "paths": PathTree,
    "sleep": SleepGauge,
    "salience": SalienceQueue,
    "signals": SignalFeed,
}
