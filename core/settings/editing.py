"""What each key press on a setting or on a row of its table does to the draft."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from core.settings.draft import Draft, nudged_value
from core.settings.layers import tunables, value_of
from core.settings.table_rows import TableRow, leaf_at
from core.settings.table_values import (
    MISSING,
    TablePath,
    shape_of,
    value_fault,
    with_item,
    with_restored,
    with_toggled,
    with_word,
    without_item,
)


class Editing:
    """Changes to one draft; moves of one slider that follow each other are undone together.

    Where a change is refused its method says why; a blank answer means that it holds.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._last_nudge: tuple[str, TablePath] | None = None

    def end_nudges(self) -> None:
        """Let the next move of a slider be a change of its own."""
        self._last_nudge = None

    def nudge(self, name: str, row: TableRow | None, direction: int, *, fine: bool) -> str:
        """Move the slider of a setting, or of a row of it."""
        value = self.draft.value(name)
        if row is None:
            value = nudged_value(tunables()[name], value, direction, fine=fine)
        elif shape_of(name).form == "set":
            before = (value_of(self.draft.base, name), row.table.default)
            value = with_toggled(shape_of(name).levels[0], value, row.label, *before)
        else:
            value = with_item(value, row.path, nudged_value(row.knob, row.item, direction, fine=fine))
        here = (name, row.path if row is not None else ())
        problem = self.draft.set(name, value, joined=self._last_nudge == here)
        self._last_nudge = None if problem else here
        return problem

    def set(self, name: str, value: Any) -> str:
        """Give a setting a value."""
        self._last_nudge = None
        return self.draft.set(name, value)

    def set_row(self, name: str, path: TablePath, value: Any) -> str:
        """Give a row of a table a value."""
        fault = value_fault(leaf_at(name, path), value)
        return fault or self.set(name, with_item(self.draft.value(name), path, value))

    def insert_word(self, name: str, place: int, word: str) -> str:
        """Put a word into a list."""
        return (
            self.set(name, with_word(self.draft.value(name), place, word)) if word else "it cannot be empty"
        )

    def remove(self, row: TableRow) -> str:
        """Take a row out of its table."""
        return self.set(row.table.name, without_item(self.draft.value(row.table.name), row.path))

    def restore(self, row: TableRow) -> str | None:
        """A row back to what is in force, or from there to built-in; None where it is that already."""
        name = row.table.name
        before = (value_of(self.draft.base, name), row.table.default)
        value = with_restored(shape_of(name), self.draft.value(name), row.path, *before)
        return None if value is MISSING else self.set(name, value)

    def reset(self, names: Iterable[str]) -> bool:
        """Settings back to what is in force, or from there to built-in; whether any moved."""
        self._last_nudge = None
        return self.draft.reset(names)

    def undo(self) -> bool:
        """Take the last change back."""
        self._last_nudge = None
        return self.draft.undo()

    def redo(self) -> bool:
        """Make the change again that was taken back last."""
        self._last_nudge = None
        return self.draft.redo()

    def set_all(self, values: Mapping[str, Any]) -> str:
        """Give several settings their values in one change."""
        self._last_nudge = None
        return self.draft.lay(values)
