"""How settings are declared: frozen structs with plain defaults, and a `Spec` in each annotation."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self, dataclass_transform, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Struct

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, TypeAdapter
    from pydantic_core import CoreSchema

Owner = Literal["person", "project"]  # Who wrote a file, a variable or an option.
TrustClass = Literal["person only", "project may narrow", "project may set"]


class Trust(NamedTuple):
    """How far a watched project may change one setting."""

    way: Literal["never", "freely", "lower", "higher", "on", "fewer"]
    limit: float = 0.0  # The furthest that a project may lower or raise it.

    @property
    def name(self) -> TrustClass:
        """The class of the setting, in words."""
        if self.way == "never":
            return "person only"
        return "project may set" if self.way == "freely" else "project may narrow"

    def allows(self, value: Any, current: Any) -> bool:
        """Return whether a project may replace the current value with this one; an equal value always may."""
        if self.way == "freely" or value == current:
            return True
        if self.way == "lower":
            return bool(self.limit <= value <= current)
        if self.way == "higher":
            return bool(current <= value <= self.limit)
        if self.way == "on":
            return value is True
        return self.way == "fewer" and set(value) <= set(current)

    def sentence_end(self) -> str:
        """Return what a project may do, as the end of `a project ...`."""
        return {
            "never": "may not set it",
            "freely": "may set it",
            "lower": f"may only lower it, down to {self.limit:g}",
            "higher": f"may only raise it, up to {self.limit:g}",
            "on": "may only turn it on",
            "fewer": "may only remove entries",
        }[self.way]


PERSON = Trust("never")  # The default: it runs, sends, writes, reads a path, costs memory, or could silence an alarm.
PROJECT = Trust("freely")  # Only the look of things or the wording of advice depends on it.
ON = Trust("on")
FEWER = Trust("fewer")


def lower(limit: float) -> Trust:
    """Let a project only lower it, down to a limit."""
    return Trust("lower", limit)


def higher(limit: float) -> Trust:
    """Let a project only raise it, up to a limit."""
    return Trust("higher", limit)


class Invalid(ValueError):
    """Values that do not fit their declarations."""

    def __init__(self, message: str, faults: list[Any]) -> None:
        super().__init__(message)
        self._faults = faults

    def errors(self) -> list[Any]:
        """Every fault: where (`loc`), of what `type`, the `msg` and the `input`."""
        return self._faults


class Spec(NamedTuple):
    """Metadata of an annotation: a sentence for people, and the limits of values from outside."""

    sentence: str = ""
    ge: float | None = None
    le: float | None = None
    step: float | None = None  # Step of its slider.
    unit: str = ""
    project: Trust | None = None  # What a watched project may do with it, if that differs from `PERSON`.
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    words: str = ""  # What the pattern allows, for people.
    before: Callable[[Any], Any] | None = None  # Converts a value before its check.
    after: Callable[[Any], Any] | None = None  # Checks a value further.

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema

        bounds = ("ge", "le", "min_length", "max_length", "pattern")
        limits = {name: value for name in bounds if (value := getattr(self, name)) is not None}
        schema: Any = dict(handler(source))
        if schema["type"] == "nullable":
            schema["schema"] = {**schema["schema"], **limits}
        else:
            schema.update(limits)
        if self.before is not None:
            schema = core_schema.no_info_before_validator_function(self.before, schema)
        if self.after is not None:
            schema = core_schema.no_info_after_validator_function(self.after, schema)
        checked_schema: CoreSchema = schema
        return checked_schema


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Group(Struct, frozen=True, kw_only=True):
    """Values that belong together; its constructor checks nothing, `parse` does.

    Values that must fit each other are compared in `__post_init__`, which raises ValueError.

    A start with built-in values evaluates no annotation; pydantic is imported only to check values from
    outside.
    """

    @classmethod
    def parse(cls, values: Any) -> Self:
        """Check values from outside; raise Invalid, which names every fault."""
        group: Self = check_value(cls, values)
        return group

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some values changed."""
        return msgspec.structs.replace(self, **changes)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema

        fields = {
            name: core_schema.typed_dict_field(handler.generate_schema(one.hint), required=one.required)
            for name, one in fields_of(cls).items()
        }
        config = core_schema.CoreConfig(allow_inf_nan=False)
        table = core_schema.typed_dict_schema(fields, extra_behavior="forbid", config=config)

        def build(values: Any, check: core_schema.ValidatorFunctionWrapHandler) -> Any:
            return values if isinstance(values, cls) else cls(**check(values))

        return core_schema.no_info_wrap_validator_function(build, table)


def check_value(hint: Any, value: Any, *, strict: bool | None = None) -> Any:
    """Return a value from outside as its annotation wants it; raise Invalid if it does not fit."""
    from pydantic import ValidationError

    try:
        return _adapter(hint).validate_python(value, strict=strict)
    except ValidationError as error:
        raise Invalid(str(error), list(error.errors(include_url=False))) from None


_ADAPTERS: dict[int, tuple[Any, TypeAdapter[Any]]] = {}


def _adapter(hint: Any) -> TypeAdapter[Any]:
    """Return the checker of an annotation, built once; an annotation may not be hashable."""
    from pydantic import ConfigDict, TypeAdapter

    if id(hint) not in _ADAPTERS:
        is_group = isinstance(hint, type) and issubclass(hint, Group)
        config = None if is_group else ConfigDict(allow_inf_nan=False)
        _ADAPTERS[id(hint)] = hint, TypeAdapter(hint, config=config)
    return _ADAPTERS[id(hint)][1]


class Field(NamedTuple):
    """One value of a group, as it is declared."""

    hint: Any  # Its whole annotation.
    kind: Any  # Its type.
    spec: Spec
    default: Any
    required: bool

    @property
    def group(self) -> type[Group] | None:
        """Its class, if it is a group itself."""
        return self.kind if isinstance(self.kind, type) and issubclass(self.kind, Group) else None

    @property
    def sentence(self) -> str:
        """One sentence for people; that of a group is the first line of its docstring."""
        group = self.group
        return self.spec.sentence if group is None else (group.__doc__ or "").partition("\n")[0]


@cache
def fields_of(group: type[Group]) -> dict[str, Field]:
    """Return every value of a group by name, in the order of declaration."""
    return {info.name: _field(info) for info in msgspec.structs.fields(group)}


def _field(info: msgspec.structs.FieldInfo) -> Field:
    kind = get_args(info.type)[0] if get_origin(info.type) is Annotated else info.type
    has_factory = info.default_factory is not NODEFAULT
    default = info.default_factory() if has_factory else info.default
    return Field(info.type, kind, _spec(info.type), default, info.required)


def _spec(hint: Any) -> Spec:
    """Return the specs of an annotation as one; the outermost wins."""
    specs = [one for one in get_args(hint) if isinstance(one, Spec)] if get_origin(hint) is Annotated else []
    values: dict[str, Any] = {}
    for spec in specs:
        values |= {name: value for name, value in spec._asdict().items() if value not in (None, "")}
    return Spec(**values)


def canonical(group: Group, leave_out: Container[str] = ()) -> bytes:
    """Return all values below a group as JSON, the same bytes for equal values."""
    return msgspec.json.encode(_with_floats(group, leave_out))


def _with_floats(value: Any, leave_out: Container[str] = ()) -> Any:
    if isinstance(value, Group):
        names = value.__struct_fields__
        return {name: _with_floats(getattr(value, name)) for name in names if name not in leave_out}
    return float(value) if type(value) is int else value


class Tunable(NamedTuple):
    """One setting as a person meets it."""

    name: str  # Dotted, such as receptor.ambient.offset.frustration.
    kind: Literal["number", "integer", "switch", "choice", "text", "table"]
    default: Any
    low: float | None
    high: float | None
    step: float | None
    unit: str
    sentence: str
    choices: tuple[str, ...]
    trust: Trust  # What a watched project may do with it.
    words: str = ""  # The allowed values, if the type does not say so.

    def allowed(self) -> str:
        """The allowed values, in words."""
        if self.words:
            return self.words
        if self.kind == "switch":
            return "true or false"
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind == "text":
            return "text"
        if self.kind == "table":
            return "a list" if isinstance(self.default, tuple | list) else "a table"
        noun = "a whole number" if self.kind == "integer" else "a number"
        if self.low is not None and self.high is not None:
            return f"{noun} from {_bound_text(self.low)} to {_bound_text(self.high)}"
        if self.low is not None:
            return f"{noun} of at least {_bound_text(self.low)}"
        return noun if self.high is None else f"{noun} of at most {_bound_text(self.high)}"


def _bound_text(number: float) -> str:
    """Write a bound in full: 1073741824 rather than 1.07374e+09."""
    return str(int(number)) if abs(number) >= 1e5 and number == int(number) else f"{number:g}"


def walk_tunables(group: type[Group], prefix: str = "") -> Iterator[Tunable]:
    """Yield every setting below a group, in the order of declaration."""
    for name, field in fields_of(group).items():
        if field.group is not None:
            yield from walk_tunables(field.group, f"{prefix}{name}.")
        else:
            yield _describe(prefix + name, field)


def _describe(name: str, field: Field) -> Tunable:
    kind, spec = field.kind, field.spec
    return Tunable(
        name=name,
        kind=_kind(kind),
        default=field.default,
        low=None if spec.ge is None else float(spec.ge),
        high=None if spec.le is None else float(spec.le),
        step=spec.step,
        unit=spec.unit,
        sentence=spec.sentence,
        choices=tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else (),
        trust=spec.project or PERSON,
        words=spec.words or _item_words(kind),
    )


def _item_words(kind: Any) -> str:
    """Return the allowed values of a list whose items have a pattern."""
    words = next((spec.words for inner in get_args(kind) if (spec := _spec(inner)).words), "")
    return f"a list, each {words}" if words else ""


def _kind(annotation: Any) -> Literal["number", "integer", "switch", "choice", "text", "table"]:
    if annotation is bool:
        return "switch"
    if annotation is int:
        return "integer"
    if annotation is float:
        return "number"
    if annotation is str:
        return "text"
    return "choice" if get_origin(annotation) is Literal else "table"
