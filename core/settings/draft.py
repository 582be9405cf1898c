"""Settings while a person edits them: drafts with undo."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from core.settings import Settings
from core.settings.group import Group, Tunable
from core.settings.layers import Given, Layer, resolve, tunables, value_of
from core.settings.toml_text import toml_value

_COARSE = 20  # Steps of the arrow keys over a setting's whole range, at least.


class Drafted(NamedTuple):
    """Settings with the edits of the tuning screen."""

    base: Settings
    edits: Mapping[str, Any]

    def value(self, name: str) -> Any:
        """Return the value of a setting with the edits."""
        return self.edits[name] if name in self.edits else value_of(self.base, name)

    def changed(self, name: str) -> bool:
        """Return whether a setting is edited or differs from its built-in value."""
        return name in self.edits or value_of(self.base, name) != tunables()[name].default


class Draft:
    """Edits over the settings in force; an edit to the value in force is dropped."""

    def __init__(self, base: Settings, original: Settings | None = None) -> None:
        self.begun = base if original is None else original  # The settings before any of them was changed.
        self.base = base  # The settings in force.
        self.settings = base  # The settings with the edits.
        self.edits: dict[str, Any] = {}
        self._past: list[dict[str, Any]] = []
        self._future: list[dict[str, Any]] = []
        self._standing = _standing(base)

    def rebase(self, base: Settings) -> None:
        """Put other settings in force; edits with the same value are dropped."""
        if base == self.base:
            return
        self.base = base
        self._standing = _standing(base)
        self._past.clear()
        self._future.clear()
        self._enter(self.edits)

    @property
    def drafted(self) -> Drafted:
        """The current draft, for the screen."""
        return Drafted(self.base, dict(self.edits))

    @property
    def changes(self) -> dict[str, Any]:
        """Every setting that differs from the original, in force or not."""
        return {
            name: value for name in tunables() if (value := value_of(self.settings, name)) != value_of(self.begun, name)
        }

    def value(self, name: str) -> Any:
        """Return the value of a setting with the edits."""
        return self.edits[name] if name in self.edits else value_of(self.base, name)

    def set(self, name: str, value: Any, *, joined: bool = False) -> str:
        """Change one setting; return why the value was refused, or a blank text.

        A `joined` change is undone together with the one before, as while a slider moves.
        """
        return self.lay({name: value}, joined=joined)

    def lay(self, values: Mapping[str, Any], *, joined: bool = False) -> str:
        """Change several settings in one step; return the first fault, or a blank text."""
        edits = {**self.edits, **values}
        resolved = resolve([self._standing, _layer(edits)])
        if resolved.complaints:
            fault = resolved.complaints[0]
            own = fault.name in values and len(values) == 1
            return fault.problem if own else f"{fault.name}: {fault.problem}"
        self._note(joined=joined)
        self._enter({name: value_of(resolved.settings, name) for name in edits})
        return ""

    def reset(self, names: Iterable[str]) -> bool:
        """Reset to the values in force, or else to the built-in values; return whether any changed."""
        targets = list(names)
        edited = [name for name in targets if name in self.edits]
        if edited:
            self._note()
            self._enter({name: value for name, value in self.edits.items() if name not in edited})
            return True
        declared_settings = tunables()
        values = {
            name: declared_settings[name].default
            for name in targets
            if value_of(self.base, name) != declared_settings[name].default
        }
        return bool(values) and not self.lay(values)

    def undo(self) -> bool:
        """Undo the last change."""
        if not self._past:
            return False
        self._future.append(self.edits)
        self._enter(self._past.pop())
        return True

    def redo(self) -> bool:
        """Redo the change."""
        if not self._future:
            return False
        self._past.append(self.edits)
        self._enter(self._future.pop())
        return True

    def _note(self, *, joined: bool = False) -> None:
        if not (joined and self._past):
            self._past.append(self.edits)
        self._future.clear()

    def _enter(self, edits: Mapping[str, Any]) -> None:
        self.edits = {name: value for name, value in edits.items() if value != value_of(self.base, name)}
        self.settings = resolve([self._standing, _layer(self.edits)]).settings if self.edits else self.base


def _standing(base: Settings) -> Layer:
    return Layer(
        "in force",
        tuple(
            Given(name, value) for name, each in tunables().items() if (value := value_of(base, name)) != each.default
        ),
    )


def _layer(edits: Mapping[str, Any]) -> Layer:
    return Layer("edit", tuple(Given(name, value) for name, value in edits.items()))


def nudged_value(tunable: Tunable, value: Any, direction: int, *, fine: bool) -> Any:
    """Return the value after one key press: a step, a fine step, the other state or the next choice."""
    if tunable.kind == "switch":
        return not value
    if tunable.kind == "choice":
        place = tunable.choices.index(str(value)) + direction
        return tunable.choices[place % len(tunable.choices)]
    if tunable.kind not in ("number", "integer"):
        return value
    step = tunable.step or 1.0
    reach = (tunable.high or 0.0) - (tunable.low or 0.0)
    coarse = max(1, min(5, int(reach / step) // _COARSE)) if reach else 1
    size = step * coarse if not fine else step if coarse > 1 else step / 5
    if tunable.kind == "integer":
        size = max(1, round(size))
    steps = round(value / size, 6)
    moved = (math.floor(steps) + 1 if direction > 0 else math.ceil(steps) - 1) * size
    if tunable.low is not None:
        moved = max(tunable.low, moved)
    if tunable.high is not None:
        moved = min(tunable.high, moved)
    return int(moved) if tunable.kind == "integer" else float(f"{moved:.10g}")


def parse_value(tunable: Tunable, text: str) -> Any:
    """Parse a typed value: a number, text or a TOML table."""
    text = text.strip()
    if tunable.kind in ("text", "choice"):
        return text.strip("\"'")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    if tunable.kind == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def value_text(value: Any) -> str:
    """Return a value as one would type it."""
    return value if isinstance(value, str) else toml_value(plain_value(value))


def plain_value(value: Any) -> Any:
    """Return a value with groups as plain tables."""
    if isinstance(value, Mapping):
        return {key: plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    return msgspec.to_builtins(value) if isinstance(value, Group) else value


class Editing:
    """Changes to one draft; moves of one slider that follow each other are undone together.

    Each method returns why a change was refused, or a blank text.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._last_nudge = ""

    def end_nudges(self) -> None:
        """Let the next move of a slider be a change of its own."""
        self._last_nudge = ""

    def nudge(self, name: str, direction: int, *, fine: bool) -> str:
        """Move the slider of a setting."""
        value = nudged_value(tunables()[name], self.draft.value(name), direction, fine=fine)
        problem = self.draft.set(name, value, joined=self._last_nudge == name)
        self._last_nudge = "" if problem else name
        return problem

    def type(self, name: str, text: str) -> str:
        """Give a setting the value that a person typed."""
        self.end_nudges()
        return self.draft.set(name, parse_value(tunables()[name], text))

    def reset(self, names: Iterable[str]) -> bool:
        """Reset settings to the values in force, or else to built-in ones; return whether any changed."""
        self.end_nudges()
        return self.draft.reset(names)

    def undo(self) -> bool:
        """Undo the last change."""
        self.end_nudges()
        return self.draft.undo()

    def redo(self) -> bool:
        """Redo the last undone change."""
        self.end_nudges()
        return self.draft.redo()

    def set_all(self, values: Mapping[str, Any]) -> str:
        """Give several settings their values in one change."""
        self.end_nudges()
        return self.draft.lay(values)
