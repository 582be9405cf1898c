"""What is known of models: the size of their context window and their prices."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from core.agents.tables import OURS, read_table
from core.errors import SettingsError
from core.events import MAIN, Turn, Where
from core.settings.logs import ContextWindowSettings

_ENDING = re.compile(
    r"(\[1m\]|-\d{8}|-\d{4}-\d{2}-\d{2}|-\d{2}-\d{2}|-latest|@[\w.-]+|-v\d+(:\d+)?|:[\w.-]+|-(low|medium|high|xhigh|minimal))$"
)
_LEADING = re.compile(
    r"^(?:[\w.-]+[/:])*(?:(?:us|eu|apac|global|au|jp)\.)?(?:anthropic\.|openai\.|google\.)?"
)
_FIELDS = ("window", "input", "output", "cache_read", "cache_write")


class Model(NamedTuple):
    """One row of the table; 0 and None mean unknown."""

    window: int = 0
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None


class Models:
    """Windows and prices by model name."""

    __slots__ = ("_default", "_extended", "_found", "_rows")

    def __init__(self, rows: dict[str, Model], settings: ContextWindowSettings | None = None) -> None:
        context = settings or ContextWindowSettings()
        self._rows = rows
        self._found: dict[str, Model] = {}
        self._default = context.default_window
        self._extended = context.extended_window

    @classmethod
    def load(cls, *extra: Path, settings: ContextWindowSettings | None = None) -> Models:
        """Our table, with the user's laid over it."""
        return cls(_merged(extra), settings)

    def update(self, *extra: Path) -> str:
        """Read the tables again; where one is broken everything stays, and what is wrong is said."""
        try:
            rows = _merged(extra)
        except SettingsError as error:
            return str(error)
        self._rows = rows
        self._found = {}
        return ""

    def window(self, model: str, seen: int = 0) -> int:
        """The context window of a model that was seen to hold `seen` tokens."""
        row = self._found.get(model) or self._row(model)
        window = row[0] or self._default
        if seen > window or "[1m]" in model:
            return max(self._extended, seen)
        return window

    def cost(
        self, model: str, input_tokens: int, output_tokens: int, cache_read: int = 0, cache_write: int = 0
    ) -> float | None:
        """US dollars, or None where a price that is needed is unknown."""
        row = self._found.get(model) or self._row(model)
        _, sending, answering, reading, writing = row
        if sending is None or answering is None:
            return None
        total = input_tokens * sending + output_tokens * answering
        if cache_read:
            if reading is None:
                return None
            total += cache_read * reading
        if cache_write:
            if writing is None:
                return None
            total += cache_write * writing
        return total / 1_000_000

    def turn(
        self,
        at: float,
        *,
        model: str,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cache_read: int = 0,
        cache_write: int = 0,
        message: str = "",
        agent: str = MAIN,
        where: Where | None = None,
        window: int = 0,
        stop: str = "",
        cost: float | None = None,
    ) -> Turn:
        """A turn with its context added up, its window and its cost; `window` and `cost` of the log win."""
        context = input_tokens + cache_read + cache_write
        if cost is None:
            cost = self.cost(model, input_tokens, output_tokens, cache_read, cache_write)
        return Turn(
            at=at,
            agent=agent,
            where=where,
            id=message,
            model=model,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cache_read=cache_read,
            cache_write=cache_write,
            context_tokens=context,
            context_window=window or self.window(model, context),
            cost=cost,
            stop=stop,
        )

    def _row(self, model: str) -> Model:
        row = self._found.get(model)
        if row is None:
            if len(self._found) > 1000:
                self._found.clear()
            row = self._found[model] = self._search(model)
        return row

    def _search(self, model: str) -> Model:
        name = model.strip().lower()
        while True:
            for candidate in (name, _LEADING.sub("", name)):
                if candidate in self._rows:
                    return self._rows[candidate]
            shorter = _ENDING.sub("", name)
            if shorter == name:
                return Model()
            name = shorter


def _merged(extra: tuple[Path, ...]) -> dict[str, Model]:
    rows: dict[str, Model] = {}
    for path in (OURS / "models.toml", *extra):
        table = read_table(path)
        for key in table:
            if key != "models":
                raise SettingsError(f"{path}: {key}: unknown; only the table [models] is expected")
        listed = table.get("models", {})
        if not isinstance(listed, dict):
            raise SettingsError(f"{path}: models: must be a table")
        for name, row in listed.items():
            rows[name.lower()] = _checked(path, name, row, rows.get(name.lower(), Model()))
    return rows


def _checked(path: Path, name: str, row: Any, known: Model) -> Model:
    if not isinstance(row, dict):
        raise SettingsError(f"{path}: models.{name}: must be a table")
    for field, value in row.items():
        if field not in _FIELDS:
            raise SettingsError(
                f"{path}: models.{name}.{field}: unknown; expected one of {', '.join(_FIELDS)}"
            )
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
            raise SettingsError(f"{path}: models.{name}.{field}: must be a number of at least 0")
    told: dict[str, Any] = {
        key: int(value) if key == "window" else float(value) for key, value in row.items()
    }
    return known._replace(**told)
