"""State declared once: a mechanism names what it keeps, and its dump and load are made from that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

from core.errors import StateError


class Kept(NamedTuple):
    """One attribute that a mechanism keeps, and how it is written as plain values and read back."""

    name: str
    saved: str = "self.{name}"
    """The expression that writes it; values must be plain and apart from the mechanism's own."""
    loaded: str = "self.{name} = {value}"
    """The statement that reads it back."""
    given: tuple[tuple[str, Any], ...] = ()
    """Names that the two need."""


def listed(name: str) -> Kept:
    """A list of plain values."""
    return Kept(name, "tuple(self.{name})", "self.{name} = list({value})")


def queued(name: str) -> Kept:
    """A bounded queue of plain values, which stays the same object with the same bound."""
    return Kept(name, "tuple(self.{name})", "self.{name}.clear(); self.{name}.extend({value})")


def mapped(name: str) -> Kept:
    """A dictionary of plain keys and values, in its order."""
    return Kept(name, "tuple(self.{name}.items())", "self.{name} = dict({value})")


def inner(name: str) -> Kept:
    """A mechanism inside this one."""
    return Kept(name, "self.{name}.dump()", "self.{name}.load({value})")


def made(name: str, save: Callable[[Any], Any], load: Callable[[Any], Any]) -> Kept:
    """Anything else, with two functions of its own."""
    return Kept(
        name,
        "save_{name}(self.{name})",
        "self.{name} = load_{name}({value})",
        ((f"save_{name}", save), (f"load_{name}", load)),
    )


def rows(name: str, kind: Callable[..., Any]) -> Kept:
    """A bounded queue of named tuples of one kind."""
    return Kept(
        name,
        "tuple([tuple(row) for row in self.{name}])",
        "self.{name}.clear(); self.{name}.extend([kind_{name}(*row) for row in {value}])",
        ((f"kind_{name}", kind),),
    )


class Stateful:
    """A mechanism whose dump and load come from its `STATE`; equal states dump to equal values."""

    __slots__ = ()
    STATE: ClassVar[Sequence[str | Kept]] = ()
    NAMED: ClassVar[bool] = False
    """Dump as a dictionary by name, so that a snapshot can keep the parts apart."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "STATE" in cls.__dict__:
            _compile(cls)

    def dump(self) -> Any:
        """Everything the next step depends on, as plain values apart from this object."""
        raise NotImplementedError

    def load(self, state: Any) -> None:
        """Go on exactly as the one that was dumped."""
        raise NotImplementedError

    def restored(self) -> None:
        """Make anew what follows from the state; called after a load."""

    def same(self, other: Stateful) -> bool:
        """Whether both would go on alike."""
        return bool(self.dump() == other.dump())


def _compile(cls: type[Stateful]) -> None:
    """Write the two functions as a person would, so that they cost no more than by hand."""
    kept = [Kept(one) if isinstance(one, str) else one for one in cls.STATE]
    scope: dict[str, Any] = {"StateError": StateError}
    for one in kept:
        scope.update(one.given)
    saved = [one.saved.format(name=one.name) for one in kept]
    public = [one.name.lstrip("_") for one in kept]
    if cls.NAMED:
        whole = ", ".join(f"{name!r}: {value}" for name, value in zip(public, saved, strict=True))
        dump = f"def dump(self):\n    return {{{whole}}}"
        values = [f"state[{name!r}]" for name in public]
        opened = ""
    else:
        dump = f"def dump(self):\n    return ({', '.join(saved)},)"
        values = [f"v_{name}" for name in public]
        opened = f"        ({', '.join(values)},) = state\n"
    steps = "".join(
        f"        {one.loaded.format(name=one.name, value=value)}\n"
        for one, value in zip(kept, values, strict=True)
    )
    load = (
        f"def load(self, state):\n    try:\n{opened}{steps}"
        "    except (TypeError, ValueError, KeyError, AttributeError) as error:\n"
        f"        raise StateError('this dump does not fit {cls.__name__}: ' + str(error)) from None\n"
        "    self.restored()"
    )
    exec(f"{dump}\n\n{load}", scope)  # noqa: S102 our own words
    for name in ("dump", "load"):
        if name not in cls.__dict__:
            scope[name].__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, scope[name])
