"""How one setting is declared, and what the screen, the files and the docs need to know of it."""

from __future__ import annotations

import functools
from collections.abc import Container, Iterator
from typing import Any, ClassVar, Literal, NamedTuple, get_args, get_origin

import msgspec
from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from core.settings.trust import Trust


class Closed(BaseModel):
    """Values that belong together: frozen, and closed to unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Group(Closed):
    """Settings that belong together; each says how far a watched project may move it.

    `class Loops(Group, project=PERSON)` says it for all, `tunable(..., project=ON)` for one.
    """

    trust: ClassVar[Trust | None] = None

    def __init_subclass__(cls, *, project: Trust | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if project is not None:
            cls.trust = project

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        for name, field in cls.model_fields.items():
            if not _is_group(field.annotation) and _trust(cls, field) is None:
                raise TypeError(
                    f"{cls.__name__}.{name} does not say what a project may do with it: declare the group "
                    "with project=PERSON or PROJECT, or the setting with project=PERSON, PROJECT, ON, FEWER, "
                    "lower(...) or higher(...)"
                )


def tunable(
    default: Any,
    sentence: str,
    *,
    ge: float | None = None,
    le: float | None = None,
    step: float | None = None,
    unit: str = "",
    project: Trust | None = None,
) -> Any:
    """Declare one setting: default, sentence, bounds, the step of its slider, unit, what a project may do.

    Without a word on projects the word of its group holds.
    """
    extra: dict[str, Any] = {"unit": unit}
    if project is not None:
        extra["project"] = project
    if step is not None:
        extra["step"] = step
    return Field(default, description=sentence, ge=ge, le=le, json_schema_extra=extra)


def _trust(model: type[Group], field: FieldInfo) -> Trust | None:
    extra: Any = field.json_schema_extra
    own = extra.get("project") if isinstance(extra, dict) else None
    return own if isinstance(own, Trust) else model.trust


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Group)


def part(group: type[Group], sentence: str) -> Any:
    """Declare a group inside a group; its built-in values are made once, for groups are frozen."""
    return Field(default_factory=functools.cache(group.model_construct), description=sentence)


def canonical(group: Closed, leave: Container[str] = ()) -> bytes:
    """All values below a group as JSON, the same bytes for equal values."""
    return msgspec.json.encode(_plain(group, leave))


def _plain(value: Any, leave: Container[str] = ()) -> Any:
    if isinstance(value, Closed):
        return {name: _plain(inner) for name, inner in value if name not in leave}
    return float(value) if type(value) is int else value


class Tunable(NamedTuple):
    """One setting as a person meets it."""

    name: str
    """Dotted, such as receptor.ambient.offset.frustration."""
    kind: Literal["number", "integer", "switch", "choice", "text", "table"]
    default: Any
    low: float | None
    high: float | None
    step: float | None
    unit: str
    sentence: str
    choices: tuple[str, ...]
    trust: Trust
    """What a watched project may do with it."""

    def allowed(self) -> str:
        """What it may be, in words."""
        if self.kind == "switch":
            return "true or false"
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind == "text":
            return "text"
        if self.kind == "table":
            return "a table"
        noun = "a whole number" if self.kind == "integer" else "a number"
        if self.low is not None and self.high is not None:
            return f"{noun} from {_said(self.low)} to {_said(self.high)}"
        if self.low is not None:
            return f"{noun} of at least {_said(self.low)}"
        return noun if self.high is None else f"{noun} of at most {_said(self.high)}"


def _said(number: float) -> str:
    """A bound in full: 1073741824 rather than 1.07374e+09."""
    return str(int(number)) if abs(number) >= 1e5 and number == int(number) else f"{number:g}"


def walk_tunables(model: type[Group], prefix: str = "") -> Iterator[Tunable]:
    """Every setting below a group, in the order it was declared."""
    for name, field in model.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, Group):
            yield from walk_tunables(annotation, f"{prefix}{name}.")
        else:
            yield _describe(model, prefix + name, field)


def _describe(model: type[Group], name: str, field: FieldInfo) -> Tunable:
    trust = _trust(model, field)
    assert trust is not None  # noqa: S101 a group without it does not load
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    step = extra.get("step")
    return Tunable(
        name=name,
        kind=_kind(field.annotation),
        default=field.get_default(call_default_factory=True, validated_data={}),
        low=_bound(field, "ge"),
        high=_bound(field, "le"),
        step=step if isinstance(step, int | float) else None,
        unit=str(extra.get("unit", "")),
        sentence=field.description or "",
        choices=tuple(map(str, get_args(field.annotation)))
        if get_origin(field.annotation) is Literal
        else (),
        trust=trust,
    )


def _kind(annotation: Any) -> Literal["number", "integer", "switch", "choice", "text", "table"]:
    if annotation is bool:
        return "switch"
    if annotation is int:
        return "integer"
    if annotation is float:
        return "number"
    if annotation is str:
        return "text"
    if get_origin(annotation) is Literal:
        return "choice"
    return "table"


def _bound(field: FieldInfo, which: str) -> float | None:
    for rule in field.metadata:
        value = getattr(rule, which, None)
        if value is not None:
            return float(value)
    return None
