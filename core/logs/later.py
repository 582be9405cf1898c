"""An agent's formats and functions, imported when a log may be its own: a start needs one agent's at most."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import overload

from core.logs.format import Format
from core.logs.found import Found


class FormatsLater(Sequence[Format]):
    """The `FORMATS` of some modules, or another name after a colon; imported by the first look at them."""

    def __init__(self, *modules: str) -> None:
        self._modules = modules
        self._formats: tuple[Format, ...] | None = None

    def _all(self) -> tuple[Format, ...]:
        if self._formats is None:
            named = [module.partition(":") for module in self._modules]
            found = [getattr(importlib.import_module(module), name or "FORMATS") for module, _, name in named]
            self._formats = tuple(known for formats in found for known in formats)
        return self._formats

    @overload
    def __getitem__(self, place: int) -> Format: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Format]: ...

    def __getitem__(self, place: int | slice) -> Format | Sequence[Format]:
        return self._all()[place]

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Format]:
        return iter(self._all())


class SurveyLater:
    """A survey that is imported when a folder is listed with it."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def __call__(self, agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
        survey: Callable[..., Iterator[Found]] = getattr(importlib.import_module(self._module), self._name)
        return survey(agent, root, now, active_within)
