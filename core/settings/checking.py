"""Values from outside checked against what a class declares; only who checks pays for the checker."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import CoreConfig, core_schema

from core.settings.declared import REQUIRED, Declared, Invalid

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


def checked(group: Any, values: Any) -> Any:
    """An object of a closed class with these values; Invalid where any does not fit."""
    return _validated(_adapter(group), values)


def checked_value(declared: Declared, value: Any, *, strict: bool) -> Any:
    """One value within its bounds; Invalid where it is not."""
    return _validated(_value_adapter(declared), value, strict=strict)


def _validated(adapter: TypeAdapter[Any], value: Any, *, strict: bool | None = None) -> Any:
    try:
        return adapter.validate_python(value, strict=strict)
    except ValidationError as error:
        raise Invalid(str(error), list(error.errors(include_url=False))) from None


@cache
def _adapter(group: Any) -> TypeAdapter[Any]:
    return TypeAdapter(group)


@cache
def _value_adapter(declared: Declared) -> TypeAdapter[Any]:
    return TypeAdapter(_annotated(declared), config=ConfigDict(allow_inf_nan=False))


def _annotated(declared: Declared) -> Any:
    return Annotated[declared.whole_annotation, _Rules(declared)]


class _Rules:
    """The limits and functions of a declared value, as pydantic takes them."""

    def __init__(self, declared: Declared) -> None:
        self._declared = declared

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = self._declared.limits.over(handler(source))
        if self._declared.before is not None:
            schema = core_schema.no_info_before_validator_function(self._declared.before, schema)
        if self._declared.after is not None:
            schema = core_schema.no_info_after_validator_function(self._declared.after, schema)
        return schema


def schema_of(group: type[Any], handler: GetCoreSchemaHandler) -> CoreSchema:
    """How a table becomes an object of a class, or an object of it stays what it is."""
    fields = {}
    for name, declared in group.model_fields.items():
        schema = handler.generate_schema(_annotated(declared))
        optional = declared.default is not REQUIRED or declared.group is not None
        if optional:
            schema = core_schema.with_default_schema(schema, default_factory=declared.value)
        fields[name] = core_schema.typed_dict_field(schema, required=not optional)
    table = core_schema.typed_dict_schema(
        fields, extra_behavior="forbid", config=CoreConfig(allow_inf_nan=False)
    )

    def make(values: Any, check: core_schema.ValidatorFunctionWrapHandler) -> Any:
        if isinstance(values, group):
            return values
        made = group.model_construct(**check(values))
        made.check()
        return made

    return core_schema.no_info_wrap_validator_function(make, table)
