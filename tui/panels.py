"""The panels of the main screen, in the order of their keys."""

from __future__ import annotations

from collections.abc import Callable

from tui.widgets.emotion import EmotionAxes
from tui.widgets.panel import Panel
from tui.widgets.paths import PathTree
from tui.widgets.salience import SalienceQueue
from tui.widgets.signals import SignalFeed
from tui.widgets.sleep import SleepGauge
from tui.widgets.triangle import NeuronTriangle

PANELS: dict[str, Callable[..., Panel]] = {
    "emotion": EmotionAxes,
    "triangle": NeuronTriangle,
    "paths": PathTree,
    "sleep": SleepGauge,
    "salience": SalienceQueue,
    "signals": SignalFeed,
}
