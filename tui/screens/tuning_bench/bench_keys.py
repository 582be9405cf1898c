"""The keys of the bench, in the order the line of keys and the help show them."""

from __future__ import annotations

from textual.binding import Binding, BindingType

BENCH_KEYS: list[BindingType] = [
    Binding("slash", "search", "find", key_display="/", id="tune.search", tooltip="Find a setting"),
    Binding(
        "c", "changed", "changed", show=False, id="tune.changed", tooltip="Only settings that are changed"
    ),
    Binding("escape", "end_input", "back", id="tune.end", tooltip="Leave the line or the search"),
    Binding("down", "offer(1)", "next", key_display="↑↓", id="tune.offer", tooltip="The next suggestion"),
    Binding(
        "up", "offer(-1)", "before", show=False, id="tune.offer.before", tooltip="The previous suggestion"
    ),
    Binding("tab", "complete", "complete", id="tune.complete", tooltip="Take the first suggestion"),
    Binding(
        "r", "reset", "reset", id="tune.reset", tooltip="Reset this row, setting or group; again: to built-in"
    ),
    Binding("R", "reset_all", "reset all", show=False, id="tune.reset_all", tooltip="Reset all settings"),
    Binding("u,ctrl+z", "undo", "undo", show=False, id="tune.undo", tooltip="Undo the last change"),
    Binding(
        "U,ctrl+y", "redo", "redo", show=False, id="tune.redo", tooltip="Redo the change that was undone"
    ),
    Binding("n", "difference(1)", "diff", id="tune.next", tooltip="To the next difference"),
    Binding(
        "N",
        "difference(-1)",
        "difference",
        show=False,
        id="tune.previous",
        tooltip="The previous difference",
    ),
    Binding("y", "apply", "apply", id="tune.apply", tooltip="Use these settings from now on"),
    Binding("s", "save", "save", id="tune.save", tooltip="Save these settings as a profile or in a file"),
    Binding("p", "profiles", "presets", id="tune.profiles", tooltip="Load a preset or a profile"),
    Binding("w", "sweep", "sweep", id="tune.sweep", tooltip="This setting over its whole range"),
    Binding(
        "l",
        "judge",
        "label",
        show=False,
        id="tune.judge",
        tooltip="Label what fired here: right, wrong, none",
    ),
    Binding("L", "missed", "missed", show=False, id="tune.missed", tooltip="Something should have fired"),
]
