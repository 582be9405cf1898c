"""Values that belong together: cheap to declare, checked when they come from outside."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from core.settings.declared import REQUIRED, Declared

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

_FRACTIONS = (float, float | None)


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Closed:
    """Values that belong together: frozen, and closed to unknown names."""

    model_fields: ClassVar[dict[str, Declared]] = {}

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        fields: dict[str, Declared] = {}
        for base in reversed(cls.__bases__):
            fields |= getattr(base, "model_fields", {})
        for name, written in cls.__annotations__.items():
            if not str(written).startswith("ClassVar"):
                given = cls.__dict__.get(name, REQUIRED)
                fields[name] = (given if isinstance(given, Declared) else Declared(given)).bind(cls, written)
                if given is not REQUIRED:
                    delattr(cls, name)
        cls.model_fields = fields

    def __init__(self, **values: Any) -> None:
        fields = type(self).model_fields
        if values or any(one.default is REQUIRED and one.group is None for one in fields.values()):
            self.__dict__.update(type(self).model_validate(values).__dict__)
        else:
            self.__dict__.update((name, one.value()) for name, one in fields.items())

    @classmethod
    def model_construct(cls, **values: Any) -> Self:
        """Built-in values, and some that need no check."""
        made = cls.__new__(cls)
        fields = cls.model_fields.items()
        made.__dict__.update(
            (name, values[name] if name in values else one.value())
            for name, one in fields
            if name in values or one.default is not REQUIRED or one.group is not None
        )
        return made

    @classmethod
    def built_in(cls) -> Self:
        """The built-in values, made once, for they never change."""
        made: Self | None = cls.__dict__.get("_built_in")
        if made is None:
            made = cls.model_construct()
            cls._built_in = made  # type: ignore[attr-defined]
        return made

    @classmethod
    def model_validate(cls, values: Any) -> Self:
        """Values from outside, each within its bounds; Invalid where any is not."""
        from core.settings.checking import checked

        made: Self = checked(cls, values)
        return made

    def check(self) -> None:
        """Raise ValueError where values do not go together."""

    def model_copy(self, update: dict[str, Any]) -> Self:
        """The same with some values replaced, unchecked."""
        made = self.__class__.__new__(self.__class__)
        made.__dict__.update(self.__dict__)
        made.__dict__.update(update)
        return made

    def model_dump(
        self, *, mode: str = "python", exclude_none: bool = False, exclude: Collection[str] = ()
    ) -> dict[str, Any]:
        """All values as plain ones; in mode "json" such as JSON has, fractions written as such."""
        json, fields = mode == "json", type(self).model_fields
        return {
            name: float(value)
            if json and type(value) is int and fields[name].annotation in _FRACTIONS
            else as_plain(value, json=json, exclude_none=exclude_none)
            for name, value in self
            if name not in exclude and not (exclude_none and value is None)
        }

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from self.__dict__.items()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed; model_copy makes another")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be taken away")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self)})"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from core.settings.checking import schema_of

        return schema_of(cls, handler)


def as_plain(value: Any, *, json: bool = True, exclude_none: bool = False) -> Any:
    """A value as JSON has them, or only groups as tables."""
    if isinstance(value, Closed):
        return value.model_dump(mode="json" if json else "python", exclude_none=exclude_none)
    if isinstance(value, dict):
        return {
            key: as_plain(item, json=json, exclude_none=exclude_none)
            for key, item in value.items()
            if not (exclude_none and item is None)
        }
    if isinstance(value, tuple | list):
        made = [as_plain(item, json=json, exclude_none=exclude_none) for item in value]
        return made if json or isinstance(value, list) else tuple(made)
    return value
