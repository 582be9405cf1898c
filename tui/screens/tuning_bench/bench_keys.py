"""The keys of the bench, in the order the line of keys and the help show them."""

from __future__ import annotations

from textual.binding import Binding, BindingType

BENCH_KEYS: list[BindingType] = [
    Binding("slash", "search", "find", key_display="/", id="tune.search", tooltip="Find a setting"),
    Binding(
        "c", "changed", "changed", show=False, id="tune.changed", tooltip="Only settings that are changed"
    ),
    Binding("escape", "end_input", "back", id="tune.end", tooltip="Leave the line or the search"),
    Binding("down", "offer(1)", "next", key_display="↑↓", id="tune.offer", tooltip="The next word offered"),
    Binding(
        "up", "offer(-1)", "before", show=False, id="tune.offer.before", tooltip="The word offered before"
    ),
    Binding("tab", "complete", "complete", id="tune.complete", tooltip="Take the first word offered"),
    Binding(
        "r", "reset", "reset", id="tune.reset", tooltip="This row, setting or group back, again: built-in"
    ),
    Binding("R", "reset_all", "reset all", show=False, id="tune.reset_all", tooltip="All settings back"),
    Binding("u,ctrl+z", "undo", "undo", show=False, id="tune.undo", tooltip="Take the last change back"),
    Binding("U,ctrl+y", "redo", "redo", show=False, id="tune.redo", tooltip="Make it again"),
    Binding("n", "difference(1)", "diff", id="tune.next", tooltip="To the next difference"),
    Binding(
        "N",
        "difference(-1)",
        "difference",
        show=False,
        id="tune.previous",
        tooltip="The difference before",
    ),
    Binding("y", "apply", "apply", id="tune.apply", tooltip="Let these settings hold from now on"),
    Binding("s", "save", "save", id="tune.save", tooltip="Keep these settings as a profile or in a file"),
    Binding("p", "profiles", "presets", id="tune.profiles", tooltip="Take over a preset or a profile"),
    Binding("w", "sweep", "sweep", id="tune.sweep", tooltip="This setting over its whole range"),
    Binding(
        "l",
        "judge",
        "label",
        show=False,
        id="tune.judge",
        tooltip="What fired here: right, wrong, no word",
    ),
    Binding("L", "missed", "missed", show=False, id="tune.missed", tooltip="Something should have fired"),
]
