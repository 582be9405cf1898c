"""What a class says of each of its values: default, bounds, one sentence."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_origin

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

REQUIRED: Any = object()
"""The default of a value that must be given."""


class Invalid(ValueError):
    """Values that do not fit what a class declares."""

    def __init__(self, words: str, faults: list[Any]) -> None:
        super().__init__(words)
        self._faults = faults

    def errors(self) -> list[Any]:
        """Every fault: where (`loc`), of what `type`, the `msg` and the `input`."""
        return self._faults


class Bounds(NamedTuple):
    """Bounds of a number, a text or a list; also to be written into an annotation."""

    ge: float | None = None
    le: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    words: str | None = None
    """What the pattern lets pass, for people."""

    def over(self, schema: CoreSchema) -> CoreSchema:
        """A schema with these limits; those of a value that may be missing hold where it is there."""
        given = {
            name: bound for name, bound in self._asdict().items() if bound is not None and name != "words"
        }
        changed: Any = dict(schema)
        if changed["type"] == "nullable":
            changed["schema"] = {**changed["schema"], **given}
        else:
            changed.update(given)
        made: CoreSchema = changed
        return made

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return self.over(handler(source))


class Declared:
    """What a class says of one of its values."""

    def __init__(
        self,
        default: Any = REQUIRED,
        *,
        description: str = "",
        limits: Bounds = Bounds(),  # noqa: B008 it never changes
        group: type[Any] | None = None,
        before: Callable[[Any], Any] | None = None,
        after: Callable[[Any], Any] | None = None,
        **extra: Any,
    ) -> None:
        self.default = default
        self.description = description
        self.limits = limits
        self.group = group
        """Of a part: its class, a Closed one whose built-in values are the default."""
        self.before = before
        """Makes what was given into what is checked."""
        self.after = after
        """Checks further what was checked."""
        self.extra = extra
        self._written: tuple[type, Any] | None = None

    def bind(self, owner: type, written: Any) -> Declared:
        """The same for a value of a class, with its annotation as it is written there."""
        bound = copy.copy(self)
        bound._written = (owner, written)
        return bound

    @cached_property
    def whole_annotation(self) -> Any:
        """The value's type, with limits that are written into it."""
        if self.group is not None:
            return self.group
        assert self._written is not None  # noqa: S101 a class binds what it declares
        owner, written = self._written
        if not isinstance(written, str):
            return written
        return eval(written, dict(vars(sys.modules[owner.__module__])))  # noqa: S307 our own annotations

    @property
    def annotation(self) -> Any:
        """The value's type."""
        whole = self.whole_annotation
        return get_args(whole)[0] if get_origin(whole) is Annotated else whole

    @property
    def bounds(self) -> Bounds:
        """The limits it was declared with, or those in its annotation."""
        return next((one for one in get_args(self.whole_annotation) if isinstance(one, Bounds)), self.limits)

    def value(self) -> Any:
        """The default, one's own where it could be changed."""
        if self.group is not None:
            return self.group.built_in()
        return copy.deepcopy(self.default) if isinstance(self.default, dict | list) else self.default


def limited(default: Any = REQUIRED, **given: Any) -> Any:
    """Declare a value that is no setting: its limits, and what to run `before` and `after` the check."""
    functions = {name: given.pop(name) for name in ("before", "after") if name in given}
    return Declared(default, limits=Bounds(**given), **functions)
