"""JSON values of any shape, read without trusting their types."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from core.engine.values import fingerprint
from core.logs.lines import decoded

_LARGEST = 1 << 53
_ROUNDING = 1e-6  # Dollars that a sum may be off by.
_DEEPEST = 8
# How models without a place for thoughts mark them.
_THOUGHT = re.compile(r"\A\s*<(think(?:ing(?:-content-\w{1,64})?)?)>.*?(?:</\1>|\Z)", re.DOTALL)


def decode(data: bytes | str) -> Any:
    """Return the JSON value in some bytes or in a text; None if there is none."""
    return decoded(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)


def decode_inner(value: Any) -> Any:
    """Return a value, decoded if it is JSON inside a text."""
    inner = decode(value) if isinstance(value, str) else None
    return value if inner is None else inner


def text(value: Any) -> str:
    """Return a text, or a blank one."""
    return value if isinstance(value, str) else ""


def table(value: Any) -> dict[str, Any]:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """Return a list, or an empty one."""
    return value if isinstance(value, list) else []


def whole_number(value: Any) -> int:
    """Return a whole number, or 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LARGEST:
        return 0
    return int(value)


def first_number(facts: dict[str, Any], *names: str) -> int:
    """Return the first whole number above 0 under these names, or 0."""
    return next((number for name in names if (number := whole_number(facts.get(name)))), 0)


class TokenCounts(NamedTuple):
    """The tokens of one answer or of several."""

    input_tokens: int = 0  # Without those of the cache.
    output_tokens: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def since(self, before: Iterable[int]) -> TokenCounts:
        """Return the difference to an earlier count."""
        return TokenCounts(*(max(0, now - then) for now, then in zip(self, before, strict=True)))


def token_counts(usage: dict[str, Any], *names: str) -> TokenCounts:
    """Return the counts that an object contains under these names, in the order of the fields."""
    return TokenCounts(*(whole_number(usage.get(name)) for name in names))


def without_cached(sent: int, answered: int, read: int = 0, written: int = 0) -> TokenCounts:
    """Return counts of a log whose tokens sent include those of the cache."""
    return TokenCounts(max(0, sent - read - written), answered, read, written)


def chat_tokens(usage: dict[str, Any]) -> TokenCounts:
    """Return the tokens of an answer of chat completions, whose prompt includes those of the cache."""
    cached = whole_number(table(usage.get("prompt_tokens_details")).get("cached_tokens"))
    read = cached or whole_number(usage.get("cache_read_input_tokens"))
    written = whole_number(usage.get("cache_creation_input_tokens"))
    answered = first_number(usage, "completion_tokens", "output_tokens")
    if sent := whole_number(usage.get("prompt_tokens")):
        return without_cached(sent, answered, read, written)
    return TokenCounts(whole_number(usage.get("input_tokens")), answered, read, written)


def amount(value: Any) -> float | None:
    """Return a sum above 0, or None: in logs, 0 means unknown."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _LARGEST:
        return None
    return float(value)


def beyond(total: float | None, parts_total: float) -> float | None:
    """Return what a sum of dollars contains beyond its parts, or None."""
    return None if total is None or total - parts_total < _ROUNDING else total - parts_total


def code(value: Any) -> int | None:
    """Return an exit code, or None."""
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 11:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 1 << 32:
        return None
    return value


def words(value: Any, depth: int = 0) -> str:
    """Return the text of a message: a text, a list of parts, or an object that contains one."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "\n".join(part_text for part in value if (part_text := words(part, depth + 1)))
    if isinstance(value, dict):
        for name in ("text", "content", "output", "error", "message"):
            part_text = words(value.get(name), depth + 1)
            if part_text:
                return part_text
    return ""


def unthought(answer_text: str) -> str:
    """Return a model's words without the thoughts written before them."""
    return _THOUGHT.sub("", answer_text).strip()


_IMAGES = frozenset(("image", "input_image", "image_url", "local_image", "localImage"))
_LISTED = ("images", "local_images", "image_urls")
_MIMES = ("mime", "mimeType", "media_type", "mime_type", "MIMEType")
_RESULTS = frozenset(("tool_result", "toolResponse", "functionResponse"))


def attached(values: Iterable[Any]) -> str:
    """Return the number of images and documents in records, in words; blank if there are none."""
    kinds = [kind for value in values for kind in _attachment_kinds(value, 0)]
    counts = ((kinds.count("image"), "an image", "images"), (kinds.count("document"), "a document", "documents"))
    return " and ".join(one if number == 1 else f"{number} {many}" for number, one, many in counts if number)


def attached_to(parts: Iterable[Any]) -> str:
    """Return the images and documents among the parts of a prompt, without results of calls."""
    objects = (part for part in parts if isinstance(part, dict) and _RESULTS.isdisjoint(part))
    return attached(part for part in objects if text(part.get("type")) not in _RESULTS)


def _attachment_kinds(value: Any, depth: int) -> list[str]:
    if depth > _DEEPEST:
        return []
    if isinstance(value, list):
        return [one for item in value for one in _attachment_kinds(item, depth + 1)]
    if not isinstance(value, dict):
        return []
    kind, mime = (text(value.get("type")), next((label for name in _MIMES if (label := text(value.get(name)))), ""))
    if kind in _IMAGES or mime.startswith("image/"):
        return ["image"] * max(1, len(items(value.get("image_urls"))))
    if kind == "document" or mime == "application/pdf":
        return ["document"]
    listed = sum(len(items(value.get(name))) for name in _LISTED)
    inner = [one for item in value.values() for one in _attachment_kinds(item, depth + 1)]
    return [*(["image"] * listed), *inner]


T = TypeVar("T", bound=msgspec.Struct)
_hints: dict[type, dict[str, Any]] = {}


def salvage(record: bytes, kind: type[T]) -> T | None:
    """Return a record with the fields that fit their types; None if it is not an object."""
    value = decoded(record)
    return _struct(value, kind) if isinstance(value, dict) else None


def _struct(value: dict[str, Any], kind: type[T]) -> T:
    hints = _hints.get(kind)
    if hints is None:
        hints = _hints[kind] = get_type_hints(kind)
    fitting = {}
    for name, written in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):
        if written in value:
            fitted, fits = _fit(value[written], hints[name])
            if fits:
                fitting[name] = fitted
    return kind(**fitting)


def _fit(value: Any, hint: Any) -> tuple[Any, bool]:
    """A value as near to its type as it can be brought, and whether it could."""
    if hint is msgspec.Raw:
        return msgspec.Raw(msgspec.json.encode(value)), True
    if get_origin(hint) in (Union, UnionType):
        for option in get_args(hint):
            fitted, fits = _fit(value, option)
            if fits:
                return fitted, True
        return None, False
    if get_origin(hint) is list:
        if not isinstance(value, list):
            return None, False
        inner = get_args(hint)[0]
        return [fitted for item in value for fitted, fits in (_fit(item, inner),) if fits], True
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return (_struct(value, hint), True) if isinstance(value, dict) else (None, False)
    if hint is NoneType:
        return None, value is None
    if hint is float:
        return value, type(value) in (int, float)
    return value, type(value) is hint


_LOOSE = 128  # Ids that are kept by name until it is worth keeping their fingerprints.


class SeenIds:
    """The ids that a log used so far: the newest by name, others as sorted fingerprints, as it may grow for days."""

    __slots__ = ("_names", "_sorted")

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._sorted: list[array[int]] = []  # Each at least twice as long as the next.

    def __contains__(self, name: str) -> bool:
        if name in self._names or not self._sorted:
            return name in self._names
        key = fingerprint(name)
        for keys in self._sorted:
            place = bisect_left(keys, key)
            if place < len(keys) and keys[place] == key:
                return True
        return False

    def add(self, name: str) -> bool:
        """Add an id and return whether it is new."""
        if name in self:
            return False
        self._names.add(name)
        if len(self._names) >= _LOOSE:
            keys = array("Q", sorted(map(fingerprint, self._names)))
            while self._sorted and len(self._sorted[-1]) < 2 * len(keys):
                keys = array("Q", sorted((*self._sorted.pop(), *keys)))
            self._sorted.append(keys)
            self._names = set()
        return True
