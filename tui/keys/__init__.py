"""Every key of the program: one key, one meaning, on every screen."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from textual.binding import Binding, BindingType
from textual.keys import Keys, _character_to_key


class Key(NamedTuple):
    """A key, its word in the line of keys, and what it does wherever it works."""

    key: str
    word: str
    meaning: str
    display: str | None = None


KEYS: dict[str, Key] = {
    name: Key(*row) for name, row in tomllib.loads(Path(__file__).with_name("keys.toml").read_text("utf-8")).items()
}


def bind(name: str, action: str, word: str = "", tooltip: str = "", *, show: bool = False) -> Binding:
    """Return a binding of one of the keys; `word` and `tooltip` may say what it does in one place."""
    key = KEYS[name]
    return Binding(
        key.key, action, word or key.word, show=show, key_display=key.display, id=name, tooltip=tooltip or key.meaning
    )


PERMIT_KEYS: list[BindingType] = [
    bind("permit.once", "permit('once')"),
    bind("permit.session", "permit('session')"),
    bind("permit.deny", "permit('deny')"),
]

# The keys that work on every screen, in the order of the line of keys.
APP_KEYS: list[BindingType] = [
    bind("play.toggle", "toggle_play", show=True),
    bind("play.back", "step(-1)", show=True),
    bind("play.on", "step(1)"),
    bind("page.up", "step(-10)"),
    bind("page.down", "step(10)"),
    bind("play.start", "seek(0)"),
    bind("play.end", "go_live"),
    bind("play.slower", "speed(-1)"),
    bind("play.faster", "speed(1)"),
    bind("jump.next", "jump(True)", show=True),
    bind("jump.previous", "jump(False)"),
    bind("jump.failure", "jump(True, 'failure')", show=True),
    bind("jump.failure_before", "jump(False, 'failure')"),
    bind("jump.prompt", "jump(True, 'prompt')", show=True),
    bind("jump.prompt_before", "jump(False, 'prompt')"),
    bind("show.changes", "show('changes')", show=True),
    bind("show.transcript", "show('transcript')", show=True),
    bind("show.tuning", "show('tuning')", show=True),
    bind("show.model", "show('mind')", show=True),
    bind("show.fleet", "fleet", show=True),
    bind("show.help", "show('help')", show=True),
    bind("quit", "quit", show=True),
    bind("show.recap", "recap"),
    bind("show.agents", "show('agents')"),
    bind("hand.next", "next_in_need"),
    bind("hand.steer", "steer"),
    bind("hand.resume", "resume"),
    *PERMIT_KEYS,
    bind("search", "search"),
    bind("find.words", "find"),
    bind("bookmark.add", "bookmark"),
    bind("judge", "judge"),
    bind("words.hide", "words"),
    bind("timeline.closer", "zoom(1)"),
    bind("timeline.wider", "zoom(-1)"),
    bind("tune.whatif", "whatif"),
    bind("back", "fleet_back", "fleet", "Back to all sessions"),
]

_MODIFIERS = frozenset(("ctrl", "shift", "alt", "super", "hyper", "meta"))
_CHARACTERS = 1 << 16


def keymap_faults(keymap: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the person's own keys, each with a suggestion."""
    faults = []
    for name, keys in keymap.items():
        if name not in KEYS:
            close = difflib.get_close_matches(name, KEYS, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else "help (?) lists the ids"
            faults.append(f"screen.keymap: unknown id {name}; {hint}")
            continue
        wrong = [key or "an empty name" for key in map(str.strip, keys.split(",")) if not _is_key(key)]
        if wrong:
            names = ", ".join(wrong)
            faults.append(f"screen.keymap: {name}: {names} is not a key; write x, X, f7, ctrl+x or slash")
    return faults


def _is_key(name: str) -> bool:
    *modifiers, key = name.split("+") if len(name) > 1 else [name]
    if not _MODIFIERS.issuperset(modifiers):
        return False
    return len(key) == 1 or key in _key_names()


@cache
def _key_names() -> frozenset[str]:
    """The names of all keys, those of single characters included."""
    characters = (_character_to_key(chr(number)) for number in range(_CHARACTERS))
    return frozenset((*(key.value for key in Keys), *characters))
