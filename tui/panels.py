"""The panels of the main screen, in the order of their keys."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from tui.widgets.panel import Panel

_WHERE = {
    "emotion": ("emotion", "EmotionAxes"),
    "triangle": ("triangle", "NeuronTriangle"),
    "paths": ("paths", "PathTree"),
    "sleep": ("sleep", "SleepGauge"),
    "salience": ("salience", "SalienceQueue"),
    "signals": ("signals", "SignalFeed"),
}


def _found() -> dict[str, Callable[..., Panel]]:
    found: dict[str, Callable[..., Panel]] = {}
    for name, (module, kind) in _WHERE.items():
        try:
            found[name] = getattr(importlib.import_module(f"tui.widgets.{module}"), kind)
        except (ImportError, AttributeError):
            continue
    return found


PANELS = _found()
