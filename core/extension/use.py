"""The extensions that are installed and switched on: observers, and participants in the step."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import cbor2
from blake3 import blake3

from core.errors import NooscopeError
from core.extension.hooks import Extension, ordered
from core.extension.in_step import StepExtension, StepMaker
from core.extension.offers import find_offers, in_use
from core.extension.registry import Registry


class StepRef(NamedTuple):
    """By which an extension in the step is known again: the same name, version and code find the same."""

    name: str
    version: str
    code: str  # A hash of the module it is in.


class InStep(NamedTuple):
    """The extensions that take part in the step, and what is wrong with others."""

    refs: tuple[StepRef, ...] = ()
    complaints: tuple[str, ...] = ()


def _fits(value: Any) -> str:
    if not (isinstance(value, type) and issubclass(value, Extension)):
        return "it is not a subclass of core.extension.Extension"
    return ""


def _classes() -> tuple[list[type[Extension]], list[str]]:
    if not find_offers().of("extension"):
        return [], []
    offers = in_use("extension", _fits)
    return [one.value for one in offers.used], list(offers.complaints)


def listening() -> tuple[list[Extension], list[str]]:
    """New objects of all that only listen, for one session, and what is wrong with others."""
    classes, complaints = _classes()
    extensions: list[Extension] = []
    for kind in classes:
        if issubclass(kind, StepExtension):
            continue
        try:
            extensions.append(kind())
        except Exception as fault:  # noqa: BLE001 an extension may fail in any way
            complaints.append(f"extension {kind.name or kind.__name__} cannot be created: {fault}")
    return extensions, complaints


def in_step() -> InStep:
    """Return the extensions that take part in every step of a new session."""
    classes, complaints = _classes()
    if not classes:
        return InStep((), tuple(complaints))
    extensions: list[StepExtension] = []
    for kind in classes:
        if issubclass(kind, StepExtension):
            try:
                extensions.append(_proved(kind))
            except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                complaints.append(f"extension {kind.name or kind.__name__} is ignored: {fault}")
    placed, wrong = ordered(extensions)
    return InStep(tuple(_ref(type(one)) for one in placed), (*complaints, *wrong))


def _proved(kind: type[StepExtension]) -> StepExtension:
    """One whose state can be kept as plain values and taken up again."""
    one, other = kind(), kind()
    state = cbor2.dumps(one.dump(), canonical=True)
    other.load(cbor2.loads(state))
    if cbor2.dumps(other.dump(), canonical=True) != state:
        raise NooscopeError("load(dump()) does not give the same state")
    return one


def _ref(kind: type[StepExtension]) -> StepRef:
    return StepRef(kind.name, kind.version, _code(kind.__module__))


@cache
def _code(module: str) -> str:
    file = getattr(sys.modules.get(module), "__file__", None)
    return blake3(Path(file).read_bytes()).hexdigest(16) if file else ""


def step_makers(refs: Iterable[StepRef]) -> tuple[list[StepMaker], list[StepRef]]:
    """Return the classes behind references, and the references that are not installed in that form."""
    classes: dict[StepRef, type[StepExtension]] = {
        _ref(kind): kind for kind in _classes()[0] if issubclass(kind, StepExtension)
    }
    refs = list(refs)
    return [classes[ref] for ref in refs if ref in classes], [ref for ref in refs if ref not in classes]


@cache
def program_registry() -> Registry:
    """Objects that serve the whole program: what concerns no one session is asked of them."""
    extensions, _ = listening()
    return Registry(extensions)
