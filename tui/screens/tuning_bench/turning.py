"""Changing the draft: sliders, typed values, rows of tables, reset, undo and redo."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from core.settings.layers import tunables, value_of
from tui.feed.messages import Failed
from tui.screens.tuning_bench.asking import Asking
from tui.widgets.tuning.cells import Cell
from tui.widgets.tuning.draft import nudged
from tui.widgets.tuning.setting_tables import MISSING, put, restored, shape_of, toggled, without
from tui.widgets.tuning.sliders import SettingsList


class Turning(Asking):
    """What every key does that changes a setting."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "r", "reset", "reset", id="tune.reset", tooltip="This row, setting or group back, again: built-in"
        ),
        Binding("R", "reset_all", "reset all", show=False, id="tune.reset_all", tooltip="All settings back"),
        Binding("u,ctrl+z", "undo", "undo", show=False, id="tune.undo", tooltip="Take the last change back"),
        Binding("U,ctrl+y", "redo", "redo", show=False, id="tune.redo", tooltip="Make it again"),
    ]

    # The sliders

    def on_settings_list_chosen(self, message: SettingsList.Chosen) -> None:
        message.stop()
        self._explain()

    def on_settings_list_nudged(self, message: SettingsList.Nudged) -> None:
        message.stop()
        name, cell = message.name, message.cell
        knob = cell.knob if cell is not None else tunables()[name]
        if knob.kind in ("text", "table"):
            self._type(name, cell)
            return
        value = self.draft.value(name)
        if cell is None:
            value = nudged(knob, value, message.direction, fine=message.fine)
        elif shape_of(name).form == "set":
            before = (value_of(self.draft.base, name), cell.table.default)
            value = toggled(shape_of(name).levels[0], value, cell.label, *before)
        else:
            value = put(value, cell.path, nudged(knob, cell.item, message.direction, fine=message.fine))
        here = (name, cell.path if cell is not None else ())
        problem = self.draft.set(name, value, joined=self._last_nudge == here)
        self._last_nudge = None if problem else here
        self._show(problem)

    def on_settings_list_typing(self, message: SettingsList.Typing) -> None:
        message.stop()
        if message.cell is not None and message.cell.state == "gone":
            self._restore(message.cell)
        else:
            self._type(message.name, message.cell)

    # Rows of tables

    def on_settings_list_removing(self, message: SettingsList.Removing) -> None:
        message.stop()
        name = message.cell.table.name
        self._enter(name, without(self.draft.value(name), message.cell.path))

    def _restore(self, cell: Cell) -> None:
        """A row back to what is in force; where that is so already, to what is built-in."""
        name = cell.table.name
        before = (value_of(self.draft.base, name), cell.table.default)
        value = restored(shape_of(name), self.draft.value(name), cell.path, *before)
        if value is MISSING:
            self._moved(False, "it is built-in already")
        else:
            self._enter(name, value)

    def _enter(self, name: str, value: Any) -> None:
        self._last_nudge = None
        self._show(self.draft.set(name, value))

    # Back and forth

    def action_reset(self) -> None:
        row = self.query_one(SettingsList).chosen
        if isinstance(row, Cell) and row.path:
            self._restore(row)
        else:
            names = self.query_one(SettingsList).names_here()
            self._moved(self.draft.reset(names), "it is built-in already")

    def action_reset_all(self) -> None:
        self._moved(self.draft.reset(tunables()), "every setting is built-in already")

    def action_undo(self) -> None:
        self._moved(self.draft.undo(), "nothing to undo")

    def action_redo(self) -> None:
        self._moved(self.draft.redo(), "nothing to make again")

    def _moved(self, moved: bool, otherwise: str) -> None:
        self._last_nudge = None
        if moved:
            self._show()
        else:
            self.post_message(Failed(otherwise))

    def lay(self, values: dict[str, Any], what: str) -> None:
        """Take over a profile's values as one change."""
        problem = self.draft.lay(values)
        self._last_nudge = None
        self._show(problem)
        if problem:
            self.post_message(Failed(f"{what}: {problem}"))
