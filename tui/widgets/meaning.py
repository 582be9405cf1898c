"""What the setting under the cursor means, what it may be, and why a value was refused."""

from __future__ import annotations

from typing import ClassVar

from textual.reactive import reactive

from core.settings.layers import value_of
from core.settings.tunable import Tunable
from tui.tuning.catalogue import Entry, Row
from tui.tuning.draft import written
from tui.view import View
from tui.widgets.page import Page, wrapped
from tui.widgets.panel import Line
from tui.widgets.sliders import Drafted
from tui.words import plain

Said = tuple[Drafted | None, Row | None, str]


class Meaning(Page, can_focus=False):
    """A few lines below the list."""

    DEFAULT_CSS = "Meaning { border: none; padding: 0 2; }"
    HELP: ClassVar[str] = "What the setting under the cursor means, and what it may be."

    said: reactive[Said] = reactive((None, None, ""))

    def watch_said(self, said: Said) -> None:
        self.show(lambda width: _laid(said, width))

    def watch_view(self, view: View | None) -> None:
        """What is seen of the session changes nothing here."""


def _laid(said: Said, width: int) -> list[Line]:
    drafted, row, problem = said
    if row is None:
        return [[("no setting has these words", "quiet")]]
    if not isinstance(row, Entry):
        return [
            [(row.group, "strong")],
            *_lines(row.sentence, width, "plain"),
            [("enter opens and closes it, r resets all of it", "quiet")],
        ]
    tunable = row.tunable
    made: list[Line] = [[(tunable.name, "strong")]]
    if problem:
        return [*made, *_lines(f"✗ {plain(problem)}", width, "alert")]
    made += _lines(tunable.sentence, width, "plain")
    if tunable.kind == "table" and drafted is not None:
        now = plain(written(drafted.value(tunable.name)), 120)
        return [*made, *_lines(f"now {now}; enter types it as TOML", width, "quiet")]
    unit = f" {tunable.unit}" if tunable.unit else ""
    made += _lines(f"{tunable.allowed()}{unit} · {_standing(tunable, drafted)}", width, "quiet")
    return made


def _lines(text: str, width: int, ink: str) -> list[Line]:
    return [[(line, ink)] for line in wrapped(text, max(8, width))]


def _standing(tunable: Tunable, drafted: Drafted | None) -> str:
    said = f"built-in {plain(written(tunable.default), 40) or 'empty'}"
    if drafted is not None:
        force = value_of(drafted.base, tunable.name)
        if force != tunable.default:
            said += f" · in force {plain(written(force), 40) or 'empty'}"
    return said
