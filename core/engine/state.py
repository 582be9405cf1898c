"""State declared once: a mechanism names what it keeps, and its dump and load are made from that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

from mypy_extensions import mypyc_attr

from core.errors import StateError


class KeptField(NamedTuple):
    """One attribute that a mechanism keeps, and how it is written as plain values and read back."""

    name: str  # What a dump by name calls it, and where `saved` and `loaded` do not say otherwise the attribute.
    # The expression that writes it; values must be plain and apart from the mechanism's own.
    saved: str = "self.{name}"
    loaded: str = "self.{name} = {value}"  # The statement that reads it back.
    given: tuple[tuple[str, Any], ...] = ()  # Names that the two expressions need.

    @property
    def public(self) -> str:
        """Its name without the underscore of what is private."""
        return self.name.lstrip("_")

    def save(self) -> str:
        """The expression with its names in place."""
        return self.saved.format(name=self.name)

    def load(self, value: str) -> str:
        """The statement with its names in place."""
        return self.loaded.format(name=self.name, value=value)


_DUMPS: dict[type, Callable[[Any], Any]] = {}
# The two functions of each class, which a class that is compiled has as methods of its own.
_LOADS: dict[type, Callable[[Any, Any], None]] = {}


def plain_list(name: str) -> KeptField:
    """A list of plain values."""
    return KeptField(name, "tuple(self.{name})", "self.{name} = list({value})")


def tupled(name: str) -> KeptField:
    """A tuple of plain values, which a stored dump gives back as a list."""
    return KeptField(name, "tuple(self.{name})", "self.{name} = tuple({value})")


def queued(name: str) -> KeptField:
    """A bounded queue of plain values, which stays the same object with the same bound."""
    return KeptField(name, "tuple(self.{name})", "self.{name}.clear(); self.{name}.extend({value})")


def byte_queue(name: str, kind: Callable[[int], Any] = int) -> KeptField:
    """A bounded queue of numbers below 256, or of what a kind makes of them, as bytes."""
    return KeptField(
        name,
        "bytes(self.{name})",
        "self.{name}.clear(); self.{name}.extend(map(kind_{name}, {value}))",
        ((f"kind_{name}", kind),),
    )


def keyed(name: str) -> KeptField:
    """A dictionary kept as its keys alone, in their order."""
    return KeptField(name, "tuple(self.{name})", "self.{name} = dict.fromkeys({value})")


def mapped(name: str) -> KeptField:
    """A dictionary of plain keys and values, in its order."""
    return KeptField(name, "tuple(self.{name}.items())", "self.{name} = dict({value})")


def tabled(name: str, width: int) -> KeptField:
    """A dictionary of plain keys to tuples of that many plain values, in its order."""
    row = "".join(f"c{place}, " for place in range(width))
    return KeptField(
        name,
        f"tuple([(key, {row}) for key, ({row}) in self.{{name}}.items()])",
        f"self.{{name}} = {{{{key: ({row}) for key, {row} in {{value}}}}}}",
    )


def inner(name: str) -> KeptField:
    """A mechanism inside this one."""
    return KeptField(name, "self.{name}.dump()", "self.{name}.load({value})")


def inners(name: str) -> KeptField:
    """Mechanisms inside this one, always as many."""
    return KeptField(
        name,
        "tuple([one.dump() for one in self.{name}])",
        "[one.load(saved) for one, saved in zip(self.{name}, {value}, strict=True)]",
    )


def custom(name: str, save: Callable[[Any], Any], load: Callable[[Any], Any]) -> KeptField:
    """Any other value, with its own dump and load functions."""
    return KeptField(
        name,
        "save_{name}(self.{name})",
        "self.{name} = load_{name}({value})",
        ((f"save_{name}", save), (f"load_{name}", load)),
    )


def through(name: str, load: str) -> KeptField:
    """The value of a property, which the named method loads."""
    return KeptField(name, loaded=f"self.{load}({{value}})")


def each(name: str, save: Callable[[Any], Any], load: Callable[[Any], Any]) -> KeptField:
    """A bounded queue, with two functions for each of its values."""
    return KeptField(
        name,
        "tuple([save_{name}(row) for row in self.{name}])",
        "self.{name}.clear(); self.{name}.extend([load_{name}(row) for row in {value}])",
        ((f"save_{name}", save), (f"load_{name}", load)),
    )


def tuple_queue(name: str, kind: Callable[..., Any]) -> KeptField:
    """A bounded queue of named tuples of one kind, which are written as they are."""
    return KeptField(
        name,
        "tuple(self.{name})",
        "self.{name}.clear(); self.{name}.extend([kind_{name}(*row) for row in {value}])",
        ((f"kind_{name}", kind),),
    )


def rows(name: str, kind: Callable[..., Any]) -> KeptField:
    """A tuple of named tuples of one kind."""
    return KeptField(
        name,
        "tuple([tuple(row) for row in self.{name}])",
        "self.{name} = tuple([kind_{name}(*row) for row in {value}])",
        ((f"kind_{name}", kind),),
    )


def row(name: str, kind: Callable[..., Any]) -> KeptField:
    """One named tuple, or none yet."""
    return KeptField(
        name,
        "None if self.{name} is None else tuple(self.{name})",
        "self.{name} = None if {value} is None else kind_{name}(*{value})",
        ((f"kind_{name}", kind),),
    )


def grouped(name: str, *parts: str | KeptField) -> KeptField:
    """Attributes that are written together under one name."""
    fields = [_as_field(part) for part in parts]
    places = [f"p_{part.public}" for part in fields]
    steps = "; ".join(part.load(place) for part, place in zip(fields, places, strict=True))
    return KeptField(
        name,
        _literal(f"({', '.join(part.save() for part in fields)},)"),
        _literal(f"({', '.join(places)},) = ") + "{value}; " + _literal(steps),
        tuple(pair for part in fields for pair in part.given),
    )


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _as_field(part: str | KeptField) -> KeptField:
    return KeptField(part) if isinstance(part, str) else part


@mypyc_attr(allow_interpreted_subclasses=True)
class Stateful:
    """A mechanism whose dump and load come from its `STATE`; equal states dump to equal values.

    An entry of `STATE` is the name of an attribute that is one plain value, or one of the kinds below.
    """

    STATE: ClassVar[Sequence[str | KeptField]] = ()
    NAMED: ClassVar[bool] = False  # Dump as a dictionary by name, so that a snapshot can keep the parts apart.
    # Of what a dump by name holds; one of another version is refused. 0 where the whole has a version.
    VERSION: ClassVar[int] = 0

    def dump(self) -> Any:
        """Everything the next step depends on, as plain values apart from this object."""
        dump = _DUMPS.get(type(self)) or _compile(type(self))[0]
        return dump(self)

    def load(self, state: Any) -> None:
        """Continue exactly as the dumped object."""
        load = _LOADS.get(type(self)) or _compile(type(self))[1]
        load(self, state)

    def restored(self) -> None:
        """Compute again what follows from the state; called after a load."""

    def same(self, other: Stateful) -> bool:
        """Return whether both would continue alike."""
        return bool(self.dump() == other.dump())


def _compile(cls: type[Stateful]) -> tuple[Callable[[Any], Any], Callable[[Any, Any], None]]:
    """Make the two functions of a class, when they are first needed."""
    scope = needed_names(cls)
    exec("\n\n".join(state_functions(cls)), scope)  # noqa: S102 our own words
    _DUMPS[cls], _LOADS[cls] = scope["dump"], scope["load"]
    return _DUMPS[cls], _LOADS[cls]


def needed_names(cls: type[Stateful]) -> dict[str, Any]:
    """The names that a class's two functions need."""
    names: dict[str, Any] = {"StateError": StateError}
    for one in cls.STATE:
        names.update(_as_field(one).given)
    return names


def state_functions(cls: type[Stateful]) -> tuple[str, str]:
    """Return the source of the two functions, as fast as if written by hand."""
    fields = [_as_field(one) for one in cls.STATE]
    saved = [one.save() for one in fields]
    public = [one.public for one in fields]
    checked = ""
    if cls.NAMED:
        parts = [f"{name!r}: {value}" for name, value in zip(public, saved, strict=True)]
        if cls.VERSION:
            parts.insert(0, f"'version': {cls.VERSION}")
            checked = _version_check(cls)
        dump = f"def dump(self):\n    return {{{', '.join(parts)}}}"
        values = [f"state[{name!r}]" for name in public]
        opened = ""
    else:
        dump = f"def dump(self):\n    return ({', '.join(saved)},)"
        values = [f"v_{name}" for name in public]
        opened = f"        ({', '.join(values)},) = state\n"
    steps = "".join(f"        {one.load(value)}\n" for one, value in zip(fields, values, strict=True))
    restored = "        self.restored()\n" if cls.restored is not Stateful.restored else ""
    load = (
        f"def load(self, state):\n    try:\n{checked}{opened}{steps}{restored}"
        "    except (TypeError, ValueError, LookupError, AttributeError) as error:\n"
        f"        raise StateError('this dump does not fit {cls.__name__}: ' + str(error)) from None"
    )
    return dump, load


def _version_check(cls: type[Stateful]) -> str:
    return (
        f"        if state['version'] != {cls.VERSION}:\n"
        "            raise StateError(f\"a dump of version {state['version']} does not fit "
        f'{cls.__name__} of version {cls.VERSION}")\n'
    )


_PLAIN = (int, float, str, bytes, bool, type(None))
