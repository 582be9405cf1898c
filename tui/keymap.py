"""The person's own keys: what each may be given to, and what is wrong with them."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import Keys, _character_to_key

from tui.feed.notices import tell_faults

_PLACES = ("tui.screens", "tui.widgets")
_MODIFIERS = frozenset(("ctrl", "shift", "alt", "super", "hyper", "meta"))
_KEY = "one is called x, X, f7, ctrl+x or slash"
_NAMED = frozenset(key.value for key in Keys)
_CHARACTERS = 1 << 16


def key_ids() -> tuple[str, ...]:
    """What keys do, by the id that help shows, of every screen and panel there is."""
    for name in _PLACES:
        places = importlib.import_module(name).__path__
        for module in pkgutil.walk_packages(places, f"{name}."):
            importlib.import_module(module.name)
    importlib.import_module("tui.app")
    return tuple(sorted(set(_ids(DOMNode))))


def keymap_faults(keymap: Mapping[str, str]) -> list[str]:
    """What of the person's own keys leads nowhere, each with what it may be."""
    if not keymap:
        return []
    known = key_ids()
    found = []
    for name, keys in keymap.items():
        if name not in known:
            found.append(f"screen.keymap: nothing is called {name}{_hint(name, known)}")
            continue
        wrong = [key for key in map(str.strip, keys.split(",")) if not _is_key(key)]
        if wrong:
            said = ", ".join(key or "nothing" for key in wrong)
            found.append(f"screen.keymap: {name}: {said} is no key; {_KEY}")
    return found


def tell_keymap_faults(app: App[Any], keymap: Mapping[str, str]) -> None:
    """Say on the screen what is wrong, found out beside it: all other screens have to be imported first."""

    def look() -> None:
        faults = keymap_faults(keymap)
        app.call_from_thread(tell_faults, app, faults)

    app.run_worker(look, name="keymap", thread=True, exit_on_error=False)


def _hint(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else "; the help (?) names what keys do"


def _is_key(name: str) -> bool:
    *modifiers, key = name.split("+") if len(name) > 1 else [name]
    if not _MODIFIERS.issuperset(modifiers):
        return False
    return len(key) == 1 or key in _NAMED or key in _characters()


@cache
def _characters() -> frozenset[str]:
    """What the keys of single characters are called."""
    return frozenset(_character_to_key(chr(number)) for number in range(_CHARACTERS))


def _ids(kind: type[DOMNode]) -> Iterator[str]:
    if kind.__module__.startswith("tui."):
        yield from (each.id for each in kind.BINDINGS if isinstance(each, Binding) and each.id)
    for inner in kind.__subclasses__():
        yield from _ids(inner)
