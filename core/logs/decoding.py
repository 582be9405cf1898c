"""JSON of logs, decoded without trusting it."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

FAULTS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)  # Errors of decoding the content of a log.
OBJECT = dict[str, msgspec.Raw]  # An object whose values are left as they are.


@overload
def decoded(data: bytes | str | msgspec.Raw) -> Any: ...


@overload
def decoded(data: bytes | str | msgspec.Raw, kind: type[T]) -> T | None: ...


def decoded(data: bytes | str | msgspec.Raw, kind: Any = Any) -> Any:
    """Return the JSON value in some bytes; None if there is none of this kind."""
    try:
        return msgspec.json.decode(data, type=kind)
    except FAULTS:
        return None
