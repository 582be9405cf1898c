"""Makes text from anywhere safe for a terminal: nothing in it can be obeyed, turned around or hidden."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

_HARMFUL = (
    "\x00-\x1f\x7f-\x9f"  # control characters, escapes among them
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\ufff0-\ufffb"  # unseen format characters
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\ufeff\uffa0"  # no width at all
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, ends of lines, turns of direction
    "\ud800-\udfff"  # halves of characters
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags and further variants, in which words can be hidden
)
_PLAIN = bytes((*b"\n\t", *range(0x20, 0x7F)))  # What may stand in lines whatever is beside it.
_MOST_MARKS = 3  # Marks one letter may carry; more of them run over other lines.
# Stretches long enough for too many marks, of characters among which all marks are.
_TOO_MANY_MARKS = (
    "[\u0300-\u1fff\u20d0-\u20ff\u2cef-\u2dff\u3021-\u309a\ua66f-\uabed\ufb1e\ufe00-\ufe2f"
    f"\U000101fd-\U0001e94a\U000e0100-\U000e01ef]{{{_MOST_MARKS + 1},}}"
)
_IN_A_LINE = f"[{_HARMFUL}]"
_IN_LINES = f"(?![\n\t])[{_HARMFUL}]"
_MARKS = ("Mn", "Me")
# Sequences by which programs colour a terminal; no words can stand inside one.
_COLOURS = r"(?:\x1b\[|\x9b)[0-?]{0,64}[@-Z`-~]"

Instead = Callable[[str], str]  # What stands in place of one harmful character.


def replace_by_blank(char: str) -> str:
    """A space; nothing for a mark."""
    return "" if unicodedata.category(char) in _MARKS else " "


def safe(text: str, instead: Instead = replace_by_blank, *, lines: bool = False) -> str:
    """The text with every harmful character replaced; line ends and tabs stay where lines are wanted."""
    if text.isascii() and text.isprintable():
        return text
    if lines and "\n" in text:
        if _harmless(text):
            return text
        return "\n".join([safe(line, instead, lines=True) for line in text.split("\n")])
    text = _pattern(_TOO_MANY_MARKS).sub(lambda match: _fewer_marks(match[0], instead), text)
    return _pattern(_IN_LINES if lines else _IN_A_LINE).sub(lambda match: instead(match[0]), text)


def strip_colours(text: str) -> str:
    """Remove colour sequences, before secrets are looked for: a secret may contain one.

    It is not yet safe.
    """
    return _pattern(_COLOURS).sub("", text) if "\x1b" in text or "\x9b" in text else text


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    """Made when first needed: most that is written is plain."""
    return re.compile(pattern)


def _harmless(text: str) -> bool:
    """Whether nothing in many lines is to be replaced; what is not plain is judged once for each kind."""
    others = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN)
    if not others:
        return True
    kinds = "".join(set(others.decode("utf-8", "surrogatepass")))
    marked = any(unicodedata.category(char) in _MARKS for char in kinds)
    return not (marked or _pattern(_IN_LINES).search(kinds))


def json_escape(char: str) -> str:
    """A character as JSON spells it."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def toml_escape(char: str) -> str:
    """A character as TOML spells it, which has no halves of characters."""
    code = ord(char)
    if 0xD800 <= code < 0xE000:
        return "?"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def safe_json(text: str) -> str:
    """JSON that says the same with every harmful character spelled out."""
    return safe(text, json_escape, lines=True)


def safe_json_bytes(data: bytes) -> bytes:
    """`safe_json` of encoded JSON."""
    if data.isascii() and b"\x7f" not in data:
        return data
    return safe_json(data.decode()).encode()


_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # Beginnings of a cell that spreadsheets calculate.


def safe_cell(value: object) -> object:
    """Return a cell for CSV: text that a spreadsheet would calculate gets an apostrophe in front."""
    if not isinstance(value, str):
        return value
    text = safe(value, lines=True)
    return f"'{text}" if value.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def whole(text: str) -> str:
    """Text without halves of characters, as file names in other encodings have them."""
    return text.encode("utf-8", "replace").decode()


def _fewer_marks(text: str, instead: Instead) -> str:
    characters: list[str] = []
    marks = 0
    for char in text:
        marks = marks + 1 if unicodedata.category(char) in _MARKS else 0
        characters.append(instead(char) if marks > _MOST_MARKS else char)
    return "".join(characters)
