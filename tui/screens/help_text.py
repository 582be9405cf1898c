"""Help made from what is there: every binding of every screen and panel, and each one's own HELP."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import format_key

from tui.draw.line import Line, fit, wrapped

_SET_OFF = re.compile(r"(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)")
_MEASURE = 96
"""Widest a paragraph gets."""
_SPACIOUS = 150
"""Cells from which on nothing of a key's line has to be cut."""


class KeyRow(NamedTuple):
    """One thing a key does."""

    keys: str
    does: str
    id: str
    """The name by which settings may give it another key."""

    def holds(self, words: Iterable[str]) -> bool:
        text = f"{self.keys} {self.does} {self.id}".casefold()
        return all(word in text for word in words)


class Topic(NamedTuple):
    """A screen or a panel: what it means and what its keys do."""

    title: str
    text: str
    rows: tuple[KeyRow, ...]


def topic(title: str, kinds: Iterable[type[DOMNode]], keymap: Mapping[str, str], told: set[str]) -> Topic:
    """What classes say of themselves and their keys, less the bindings `told` of already."""
    kinds = tuple(kinds)
    found: dict[str, tuple[list[str], str]] = {}
    for binding in (binding for kind in kinds for binding in _bindings(kind)):
        name = binding.id or f"{binding.action} {binding.description}"
        if name not in told:
            keys, _ = found.setdefault(name, ([], binding.tooltip or binding.description))
            keys += _shown(binding, keymap)
    rows = (
        KeyRow(", ".join(dict.fromkeys(keys)), does, name if " " not in name else "")
        for name, (keys, does) in found.items()
    )
    text = "\n".join((kind.HELP or "").strip() for kind in kinds).strip()
    return Topic(title, text, tuple(rows))


def binding_names(kind: type[DOMNode]) -> set[str]:
    """What tells the bindings of a class apart."""
    return {binding.id or f"{binding.action} {binding.description}" for binding in _bindings(kind)}


def _bindings(kind: type[DOMNode]) -> Iterator[Binding]:
    merged = kind._merged_bindings
    for bindings in merged.key_to_bindings.values() if merged is not None else ():
        yield from (binding for binding in bindings if binding.description and not binding.system)


def _shown(binding: Binding, keymap: Mapping[str, str]) -> list[str]:
    """The keys of a binding, with the person's own instead of ours."""
    own = keymap.get(binding.id or "")
    if own:
        return [format_key(key.strip()) for key in own.split(",")]
    return [format_key(binding.key)]


def matching_topics(topics: Iterable[Topic], sought: str) -> list[Topic]:
    """Topics with only what holds every word that is sought; a topic named by them stays whole."""
    words = sought.casefold().split()
    kept = []
    for each in topics:
        if all(word in each.title.casefold() for word in words):
            kept.append(each)
            continue
        rows = tuple(row for row in each.rows if row.holds(words))
        text = each.text if all(word in each.text.casefold() for word in words) else ""
        if rows or text:
            kept.append(Topic(each.title, text, rows))
    return kept


def help_lines(topics: Iterable[Topic], width: int) -> list[Line]:
    """Topics as lines."""
    lines: list[Line] = []
    for each in topics:
        lines += [[], [(each.title.upper(), "live")]] if lines else [[(each.title.upper(), "live")]]
        lines += _prose(each.text, width)
        if each.text and each.rows:
            lines.append([])
        lines += [line for row in each.rows for line in _key_lines(row, width)]
    return lines


def _key_lines(row: KeyRow, width: int) -> Iterator[Line]:
    """A key beside what it does, which takes as many lines as it needs."""
    keys = 14 if width < _SPACIOUS else 24
    name = 22 if width >= 70 else 0
    room = max(8, min(48 if width < _SPACIOUS else 90, width - keys - name - 1))
    for number, piece in enumerate(wrapped(row.does, room)):
        yield [
            (fit("" if number else row.keys, keys - 1) + " ", "strong"),
            (fit(piece, room) + " ", "plain"),
            (fit("" if number else row.id, name), "quiet"),
        ]


def _prose(text: str, width: int) -> list[Line]:
    """Paragraphs and lists of help; what is set off there is set off here, headings are left out."""
    lines: list[Line] = []
    for block in _blocks(text):
        if not block:
            lines += [[]] if lines else []
            continue
        bullet = block.startswith("* ")
        room = min(_MEASURE, max(20, width)) - 2 * bullet
        for number, line in enumerate(_wrapped(block.removeprefix("* "), room)):
            lead: Line = [("• " if number == 0 else "  ", "quiet")] if bullet else []
            lines.append([*lead, *line])
    return lines


def _blocks(text: str) -> list[str]:
    """Paragraphs and list items, each on one line; an empty one stands for a blank line."""
    blocks: list[str] = []
    for line in text.splitlines():
        words = line.strip()
        if words.startswith("#"):
            continue
        if not words or words.startswith("* ") or not blocks or not blocks[-1]:
            blocks.append(words)
        else:
            blocks[-1] += f" {words}"
    return blocks[1:] if blocks and not blocks[0] else blocks


def _wrapped(text: str, width: int) -> list[Line]:
    """One paragraph over as many lines as it needs, each piece in its style."""
    parts = [part for part in _SET_OFF.split(text) if part]
    bare = [_unmarked(part) if _SET_OFF.fullmatch(part) else part for part in parts]
    clean = "".join(bare)
    strong = [
        _SET_OFF.fullmatch(part) is not None for part, word in zip(parts, bare, strict=True) for _ in word
    ]
    lines: list[Line] = []
    start = end = 0
    for word in re.finditer(r"\S+", clean):
        if word.end() - start > width and end > start:
            lines.append(_styled_run(clean, strong, start, end))
            start = word.start()
        end = word.end()
    return [*lines, _styled_run(clean, strong, start, end)]


def _unmarked(part: str) -> str:
    """What stands between the marks that set it off."""
    marks = 2 if part.startswith("**") else 1
    return part[marks:-marks]


def _styled_run(text: str, strong: list[bool], start: int, end: int) -> Line:
    line: Line = []
    for on, run in groupby(range(start, end), key=strong.__getitem__):
        line.append(("".join(text[place] for place in run), "strong" if on else "plain"))
    return line
