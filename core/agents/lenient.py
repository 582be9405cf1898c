"""Typed decoding that gives up a field, not a line, where a type is wrong."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from core.logs.links import FAULTS

T = TypeVar("T", bound=msgspec.Struct)
_hints: dict[type, dict[str, Any]] = {}


def salvage(record: bytes, kind: type[T]) -> T | None:
    """What of a record fits its type, the rest left at its defaults; None where it is no JSON object."""
    try:
        value = msgspec.json.decode(record)
    except FAULTS:
        return None
    return _struct(value, kind) if isinstance(value, dict) else None


def _struct(value: dict[str, Any], kind: type[T]) -> T:
    hints = _hints.get(kind)
    if hints is None:
        hints = _hints[kind] = get_type_hints(kind)
    fitting = {}
    for name, written in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):
        if written in value:
            found, fits = _fit(value[written], hints[name])
            if fits:
                fitting[name] = found
    return kind(**fitting)


def _fit(value: Any, hint: Any) -> tuple[Any, bool]:
    """A value as near to its type as it can be brought, and whether it could."""
    if hint is msgspec.Raw:
        return msgspec.Raw(msgspec.json.encode(value)), True
    if get_origin(hint) in (Union, UnionType):
        for option in get_args(hint):
            found, fits = _fit(value, option)
            if fits:
                return found, True
        return None, False
    if get_origin(hint) is list:
        if not isinstance(value, list):
            return None, False
        inner = get_args(hint)[0]
        return [found for item in value for found, fits in (_fit(item, inner),) if fits], True
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return (_struct(value, hint), True) if isinstance(value, dict) else (None, False)
    if hint is NoneType:
        return None, value is None
    if hint is float:
        return value, type(value) in (int, float)
    return value, type(value) is hint
