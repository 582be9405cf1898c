"""Help made from what is there: every binding of every screen and panel, and each one's own HELP."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import format_key

from tui.widgets.panel import Line, fit

_MEASURE = 96
"""Widest a paragraph gets."""


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


def topic(title: str, kind: type[DOMNode], keymap: Mapping[str, str], but: Iterable[str] = ()) -> Topic:
    """What a class says of itself; bindings named in `but` are told elsewhere."""
    told = set(but)
    found: dict[str, tuple[list[str], str]] = {}
    merged = kind._merged_bindings
    for bindings in merged.key_to_bindings.values() if merged is not None else ():
        for binding in bindings:
            name = binding.id or f"{binding.action} {binding.description}"
            if binding.system or not binding.description or name in told:
                continue
            keys, _ = found.setdefault(name, ([], _meaning(binding)))
            keys += _shown(binding, keymap)
    rows = (
        KeyRow(", ".join(dict.fromkeys(keys)), does, name if " " not in name else "")
        for name, (keys, does) in found.items()
    )
    text = (kind.HELP or "").strip()
    return Topic(title, text, tuple(rows))


def _shown(binding: Binding, keymap: Mapping[str, str]) -> list[str]:
    """The keys of a binding, with the person's own instead of ours."""
    own = keymap.get(binding.id or "")
    if own:
        return [format_key(key.strip()) for key in own.split(",")]
    return [binding.key_display or format_key(binding.key)]


def _meaning(binding: Binding) -> str:
    return binding.tooltip or binding.description


def sifted(topics: Iterable[Topic], sought: str) -> list[Topic]:
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


def laid_out(topics: Iterable[Topic], width: int) -> list[Line]:
    """Topics as lines."""
    lines: list[Line] = []
    for each in topics:
        lines += [[], [(each.title.upper(), "live")]] if lines else [[(each.title.upper(), "live")]]
        lines += _prose(each.text, width)
        if each.text and each.rows:
            lines.append([])
        lines += [_key_line(row, width) for row in each.rows]
    return lines


def _key_line(row: KeyRow, width: int) -> Line:
    keys = 14
    name = 22 if width >= 70 else 0
    room = max(8, min(60, width - keys - name - 1))
    return [
        (fit(row.keys, keys), "strong"),
        (fit(row.does, room) + " ", "plain"),
        (fit(row.id, name), "quiet"),
    ]


def _prose(text: str, width: int) -> list[Line]:
    """Paragraphs of help; what stands between backticks is set off, headings are left out."""
    joined = " ".join(line for line in text.splitlines() if line and not line.startswith("#"))
    parts = joined.split("`")
    clean = "".join(parts)
    set_off = [number % 2 == 1 for number, part in enumerate(parts) for _ in part]
    most = min(_MEASURE, max(20, width))
    lines: list[Line] = []
    start = end = 0
    for word in re.finditer(r"\S+", clean):
        if word.end() - start > most and end > start:
            lines.append(_inked(clean, set_off, start, end))
            start = word.start()
        end = word.end()
    return [*lines, _inked(clean, set_off, start, end)] if end > start else lines


def _inked(text: str, set_off: list[bool], start: int, end: int) -> Line:
    line: Line = []
    for on, run in groupby(range(start, end), key=set_off.__getitem__):
        line.append(("".join(text[place] for place in run), "strong" if on else "quiet"))
    return line
