"""How one setting is declared, and what the screen, the files and the docs need to know of it."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, ClassVar, Literal, NamedTuple, get_args, get_origin

import msgspec

from core.settings.closed import Closed
from core.settings.declared import REQUIRED, Bounds, Declared
from core.settings.trust import PERSON, Trust


class Group(Closed):
    """Settings that belong together; each says how far a watched project may move it.

    `class Loops(Group, project=PERSON)` says it for all, `tunable(..., project=ON)` for one.
    """

    trust: ClassVar[Trust | None] = None

    def __init_subclass__(cls, *, project: Trust | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if project is not None:
            cls.trust = project
        for name, declared in cls.model_fields.items():
            if declared.group is None and _trust(cls, declared) is None:
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
    default = REQUIRED if default is ... else default
    return Declared(default, description=sentence, limits=Bounds(ge, le), **extra)


def _trust(model: type[Group], declared: Declared) -> Trust | None:
    own = declared.extra.get("project")
    return own if isinstance(own, Trust) else model.trust


def part(group: type[Closed], sentence: str) -> Any:
    """Declare a group inside a group; its built-in values are made once, for groups are frozen."""
    return Declared(group=group, description=sentence)


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
    words: str = ""
    """What it may be, where its type does not say so."""

    def allowed(self) -> str:
        """What it may be, in words."""
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
            return f"{noun} from {_said(self.low)} to {_said(self.high)}"
        if self.low is not None:
            return f"{noun} of at least {_said(self.low)}"
        return noun if self.high is None else f"{noun} of at most {_said(self.high)}"


def _said(number: float) -> str:
    """A bound in full: 1073741824 rather than 1.07374e+09."""
    return str(int(number)) if abs(number) >= 1e5 and number == int(number) else f"{number:g}"


def walk_tunables(model: type[Group], prefix: str = "") -> Iterator[Tunable]:
    """Every setting below a group, in the order it was declared."""
    for name, declared in model.model_fields.items():
        if declared.group is not None and issubclass(declared.group, Group):
            yield from walk_tunables(declared.group, f"{prefix}{name}.")
        else:
            trust = _trust(model, declared)
            assert trust is not None  # noqa: S101 a group without it does not load
            yield _describe(prefix + name, declared, trust)


def describe_type(annotation: Any) -> Tunable:
    """A value of some type that is no setting by itself, such as one in a table."""
    return _describe("item", Declared().bind(Group, annotation), PERSON)


def _describe(name: str, declared: Declared, trust: Trust) -> Tunable:
    annotation, extra = declared.annotation, declared.extra
    step = extra.get("step")
    return Tunable(
        name=name,
        kind=_kind(annotation),
        default=declared.value(),
        low=_float(declared.bounds.ge),
        high=_float(declared.bounds.le),
        step=step if isinstance(step, int | float) else None,
        unit=str(extra.get("unit", "")),
        sentence=declared.description,
        choices=tuple(map(str, get_args(annotation))) if get_origin(annotation) is Literal else (),
        trust=trust,
        words=_words(declared),
    )


def _words(declared: Declared) -> str:
    """What a pattern lets pass: of the value, or of each value in a list."""
    if declared.bounds.words:
        return declared.bounds.words
    inner = get_args(declared.annotation)
    found = [one.words for each in inner for one in get_args(each) if isinstance(one, Bounds) and one.words]
    return f"a list, each {found[0]}" if found else ""


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


def _float(bound: float | None) -> float | None:
    return None if bound is None else float(bound)
