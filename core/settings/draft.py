"""Settings as a person turns them: every change checked, undone and redone."""

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

_COARSE = 20
"""Steps of the arrow keys over a setting's whole range, at least."""


class Drafted(NamedTuple):
    """Settings as they stand on the bench."""

    base: Settings
    edits: Mapping[str, Any]

    def value(self, name: str) -> Any:
        """What a setting would be."""
        return self.edits[name] if name in self.edits else value_of(self.base, name)

    def changed(self, name: str) -> bool:
        """Whether it is edited, or other than built-in."""
        return name in self.edits or value_of(self.base, name) != tunables()[name].default


class Draft:
    """Edits laid over the settings in force; an edit that says what already holds is none."""

    def __init__(
        self,
        base: Settings,
        begun: Settings | None = None,
    ) -> None:
        self.begun = base if begun is None else begun
        """The settings before any of them was changed."""
        self.base = base
        """The settings in force."""
        self.settings = base
        """Those with the edits."""
        self.edits: dict[str, Any] = {}
        self._past: list[dict[str, Any]] = []
        self._future: list[dict[str, Any]] = []
        self._standing = _standing(base)

    def rebase(self, base: Settings) -> None:
        """Other settings are in force now; edits that say the same are dropped."""
        if base == self.base:
            return
        self.base = base
        self._standing = _standing(base)
        self._past.clear()
        self._future.clear()
        self._enter(self.edits)

    @property
    def drafted(self) -> Drafted:
        """As it stands now, to be shown."""
        return Drafted(self.base, dict(self.edits))

    @property
    def changes(self) -> dict[str, Any]:
        """All that differs from how it began, in force already or not."""
        return {
            name: value
            for name in tunables()
            if (value := value_of(self.settings, name)) != value_of(self.begun, name)
        }

    def value(self, name: str) -> Any:
        """What a setting would be."""
        return self.edits[name] if name in self.edits else value_of(self.base, name)

    def set(self, name: str, value: Any, *, joined: bool = False) -> str:
        """Change one setting; what is wrong with the value, in words, where it is refused.

        A `joined` change is undone together with the one before, as while a slider moves.
        """
        return self.lay({name: value}, joined=joined)

    def lay(self, values: Mapping[str, Any], *, joined: bool = False) -> str:
        """Change several settings in one step; the first fault, where there is any."""
        edits = {**self.edits, **values}
        found = resolve([self._standing, _layer(edits)])
        if found.complaints:
            fault = found.complaints[0]
            own = fault.name in values and len(values) == 1
            return fault.problem if own else f"{fault.name}: {fault.problem}"
        self._note(joined=joined)
        self._enter({name: value_of(found.settings, name) for name in edits})
        return ""

    def reset(self, names: Iterable[str]) -> bool:
        """Back to what is in force; where that is so already, to the built-in value. Whether any moved."""
        wanted = list(names)
        edited = [name for name in wanted if name in self.edits]
        if edited:
            self._note()
            self._enter({name: value for name, value in self.edits.items() if name not in edited})
            return True
        known = tunables()
        values = {
            name: known[name].default for name in wanted if value_of(self.base, name) != known[name].default
        }
        return bool(values) and not self.lay(values)

    def undo(self) -> bool:
        """Take the last change back."""
        if not self._past:
            return False
        self._future.append(self.edits)
        self._enter(self._past.pop())
        return True

    def redo(self) -> bool:
        """Make it again."""
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
            Given(name, value)
            for name, each in tunables().items()
            if (value := value_of(base, name)) != each.default
        ),
    )


def _layer(edits: Mapping[str, Any]) -> Layer:
    return Layer("edit", tuple(Given(name, value) for name, value in edits.items()))


def nudged_value(tunable: Tunable, value: Any, direction: int, *, fine: bool) -> Any:
    """The value one key press further: a step, a fine step, the other state, the next choice."""
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
    """A typed value: a number as such, text as it stands, a table as TOML."""
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
    """A value as one would type it."""
    return value if isinstance(value, str) else toml_value(plain_value(value))


def plain_value(value: Any) -> Any:
    """A value without models in it."""
    if isinstance(value, Mapping):
        return {key: plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    return msgspec.to_builtins(value) if isinstance(value, Group) else value
