"""Typing on the bench: values, keys and words of new rows, whole tables, and what to look for."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from core.settings.layers import tunables
from tui.screens.tuning_bench.worktop import Worktop
from tui.widgets.common.type_line import TypeLine
from tui.widgets.tuning.cells import Cell, leaf_at
from tui.widgets.tuning.draft import spoken, written
from tui.widgets.tuning.known import offered, usual
from tui.widgets.tuning.setting_details import Asked
from tui.widgets.tuning.setting_tables import (
    MISSING,
    Path,
    inserted,
    item_at,
    put,
    refused,
    shape_of,
    unknown,
)
from tui.widgets.tuning.sliders import SettingsList

_NOUNS = {"response.loops.tools": ("tool or program", "detector"), "governor.override": ("figure",)}


class Wish(NamedTuple):
    """What the line one types in is for."""

    what: Literal["value", "key", "word"]
    name: str
    path: Path = ()
    """Of a value its row, of a key what it is put into, of a word its place in the list."""


class Asking(Worktop):
    """What is typed, and where it goes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "find", key_display="/", id="tune.search", tooltip="Find a setting"),
        Binding(
            "c", "changed", "changed", show=False, id="tune.changed", tooltip="Only settings that are changed"
        ),
        Binding("escape", "end_input", "back", id="tune.end", tooltip="Leave the line or the search"),
        Binding(
            "down", "offer(1)", "next", key_display="↑↓", id="tune.offer", tooltip="The next word offered"
        ),
        Binding(
            "up", "offer(-1)", "before", show=False, id="tune.offer.before", tooltip="The word offered before"
        ),
        Binding("tab", "complete", "complete", id="tune.complete", tooltip="Take the first word offered"),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._wish = Wish("value", "")
        self._last_nudge: tuple[str, Path] | None = None
        """What the last key press moved, as long as nothing else happened."""

    # The line one types in

    def _type(self, name: str, cell: Cell | None = None) -> None:
        """Ask for a value: of a setting, of a whole table, of a row."""
        path = cell.path if cell is not None else ()
        hint = cell.leaf.allowed() if cell is not None else tunables()[name].allowed()
        now = self.draft.value(name) if cell is None else cell.item
        self._ask_for(Wish("value", name, path), hint, written(now))

    def on_settings_list_adding(self, message: SettingsList.Adding) -> None:
        message.stop()
        self._add(message.name, message.path)

    def _add(self, name: str, path: Path) -> None:
        """Ask for the key of a new row, or for a new word of a list."""
        what: Literal["key", "word"] = "word" if shape_of(name).form == "list" else "key"
        inside = () if what == "word" else path
        there = self.draft.value(name) if what == "word" else item_at(self.draft.value(name), path)
        taken = there if there is not MISSING and len(inside) + 1 == len(shape_of(name).levels) else ()
        words = tuple(each for each in offered(name, inside, self.recording) if each not in taken)
        self._ask_for(Wish(what, name, path), self._noun(name, inside), "", words)

    def _noun(self, name: str, path: Path) -> str:
        nouns = _NOUNS.get(name, ("key" if shape_of(name).form == "map" else "word",))
        return nouns[min(len(path), len(nouns) - 1)]

    def _ask_for(self, wish: Wish, hint: str, value: str, words: tuple[str, ...] = ()) -> None:
        self._wish, self._last_nudge = wish, None
        self.add_class("-typing")
        self.set_class(wish.what != "value", "-asking")
        self.query_one(TypeLine).ask(hint, value, words)
        self._explain()

    def asked(self) -> Asked | None:
        line = self.query_one(TypeLine)
        if not self.has_class("-asking"):
            return None
        wish, words = self._wish, line.fitting
        inside = wish.path if wish.what == "key" else ()
        return Asked(wish.name, inside, f"which {self._noun(wish.name, inside)}?", words, line.value)

    @on(Input.Changed, "#typed")
    def _sifted(self, event: Input.Changed) -> None:
        event.stop()
        if self.has_class("-asking"):
            self._explain()

    @on(Input.Submitted, "#typed")
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        wish, text = self._wish, event.value.strip()
        if wish.what == "key":
            self._key(wish.name, wish.path, text)
        elif wish.what == "word":
            self._word(wish.name, wish.path, text)
        elif wish.path:
            leaf = leaf_at(wish.name, wish.path)
            self._set_row(wish.name, wish.path, spoken(leaf, text))
        else:
            self._accept(wish.name, spoken(tunables()[wish.name], text))

    def action_offer(self, by: int) -> None:
        self.query_one(TypeLine).offer(by)

    def action_complete(self) -> None:
        self.query_one(TypeLine).complete()

    def _key(self, name: str, inside: Path, key: str) -> None:
        """Put a row under a key; where more than a key is needed, ask for that."""
        levels, table = shape_of(name).levels, self.draft.value(name)
        fitting = self.query_one(TypeLine).fitting
        if key and levels[len(inside)] and len(fitting) == 1:
            key = fitting[0]
        path = (*inside, key)
        if problem := unknown(levels[len(inside)], key):
            self._explain(problem)
        elif len(path) < len(levels):
            self._add(name, path)
        elif item_at(table, path) is not MISSING:
            self._explain(f"{key} is there already")
        elif (begin := usual(name, path, self.draft.drafted)) is None:
            self._ask_for(Wish("value", name, path), leaf_at(name, path).allowed(), "")
        else:
            self._set_row(name, path, begin)

    def _word(self, name: str, path: Path, word: str) -> None:
        """Put a word into a list, at a place or at its end."""
        table = self.draft.value(name)
        place = path[0] if path and isinstance(path[0], int) else len(table)
        if not word:
            self._explain("it cannot be empty")
        else:
            self._accept(name, inserted(table, place, word), (place,))

    def _set_row(self, name: str, path: Path, value: Any) -> None:
        if problem := refused(leaf_at(name, path), value):
            self._explain(problem)
        else:
            self._accept(name, put(self.draft.value(name), path, value), path)

    def _accept(self, name: str, value: Any, path: Path = ()) -> None:
        """Enter what was typed and leave the line, or say at the line why not."""
        problem = self.draft.set(name, value)
        if problem:
            self._explain(problem)
            return
        self._close_line()
        self._show()
        self.query_one(SettingsList).show(name, path)

    def _close_line(self) -> None:
        self.remove_class("-typing", "-finding", "-asking")
        self.query_one(SettingsList).focus()

    # The search

    @on(Input.Changed, "#find")
    def _find(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one(SettingsList).words = event.value.strip()

    @on(Input.Submitted, "#find")
    def _found(self, event: Input.Submitted) -> None:
        event.stop()
        self.end_input()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While something is typed all keys are the line's, but the one that leaves it."""
        if action in ("offer", "complete"):
            line = self.query_one(TypeLine)
            return line.has_focus and bool(line.offers)
        if action == "end_input":
            return self._narrowed()
        return not isinstance(self.screen.focused, Input) and super().check_action(action, parameters)

    def _narrowed(self) -> bool:
        """Something is being typed or looked for."""
        settings = self.query_one(SettingsList)
        return bool(
            self.has_class("-typing") or self.has_class("-finding") or settings.words or settings.only_changed
        )

    def action_end_input(self) -> None:
        self.end_input()

    def end_input(self) -> bool:
        """Leave the line one types in, and then the search; False where there was neither."""
        settings = self.query_one(SettingsList)
        if self.has_class("-typing") or self.has_class("-finding"):
            self._close_line()
            self._explain()
            return True
        if settings.words or settings.only_changed:
            self.query_one("#find", Input).value = ""
            settings.words, settings.only_changed = "", False
            return True
        return False

    def action_search(self) -> None:
        self.add_class("-finding")
        self.query_one("#find", Input).focus()

    def action_changed(self) -> None:
        panel = self.query_one(SettingsList)
        panel.only_changed = not panel.only_changed
