"""The tuning screen: every setting, and what would have fired with other values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual._path import CSSPathType
from textual.widget import Widget

from tui.screens.board import Board
from tui.screens.tuning_bench.bench import Bench


class TuningScreen(Board):
    """The bench on a screen of its own."""

    CSS_PATH: ClassVar[CSSPathType | None] = ["board.tcss", "tuning.tcss"]
    AUTO_FOCUS = "SettingsList"

    def body(self) -> Iterable[Widget]:
        yield Bench(id="bench").data_bind(TuningScreen.view, TuningScreen.recording)

    def action_leave(self) -> None:
        if not self.query_one(Bench).end_input():
            self.dismiss()
