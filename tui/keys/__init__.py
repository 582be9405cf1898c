"""Every key of the program: one key, one meaning, on every screen."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from textual.binding import Binding, BindingType
from textual.keys import Keys, _character_to_key


class Key(NamedTuple):
    """A key, its word in the line of keys, and what it does wherever it works."""

    key: str
    word: str
    meaning: str
    display: str | None = None


# By the id that settings use to move a key, in the order help lists them.
KEYS: dict[str, Key] = {
    "play.toggle": Key("space", "play", "Play or pause; at the end of a session, play from the start"),
    "play.back": Key("left", "step", "One event back; on a setting, decrease it", "←→"),
    "play.on": Key("right", "step", "One event forward; on a setting, increase it", "←→"),
    "play.start": Key("home", "start", "To the first event or row"),
    "play.end": Key("end", "end", "To the last event or row; a live session is followed"),
    "play.slower": Key("comma", "slower", "Play slower", ","),
    "play.faster": Key("full_stop", "faster", "Play faster", "."),
    "jump.next": Key("n", "problem", "To the next problem or question to you"),
    "jump.previous": Key("N", "previous problem", "To the previous problem or question to you"),
    "jump.failure": Key("x", "failure", "To the next failed call"),
    "jump.failure_before": Key("X", "previous failure", "To the previous failed call"),
    "jump.prompt": Key("p", "prompt", "To your next prompt"),
    "jump.prompt_before": Key("P", "previous prompt", "To your previous prompt"),
    "jump.difference": Key("right_square_bracket", "next change", "To the next edit or difference", "]"),
    "show.changes": Key("c", "changes", "Files changed up to the playhead, with their diff"),
    "show.transcript": Key("e", "transcript", "Everything that was asked, done and answered"),
    "show.tuning": Key("t", "tune", "Thresholds, and what would have fired with others"),
    "show.model": Key("m", "model", "The model: mind, governor, affect, response, branches"),
    "show.fleet": Key("f", "fleet", "All sessions on this machine"),
    "show.help": Key("question_mark", "help", "Keys and explanations", "?"),
    "show.recap": Key("l", "recap", "Recap: what happened, and what came of it"),
    "show.agents": Key("a", "agents", "Sub-agents: choose the agent to look at"),
    "hand.next": Key("W", "next", "To the next session that needs you"),
    "hand.steer": Key("s", "message", "Preview a message to the agent, and send it"),
    "hand.resume": Key("R", "resume", "Go to the agent's terminal, or run the command that resumes it"),
    "permit.once": Key("y", "allow", "Allow the call that waits for you, once"),
    "permit.session": Key("Y", "always allow", "Allow this tool for the rest of the session"),
    "permit.deny": Key("d", "deny", "Deny the call that waits, with a reason"),
    "search": Key("slash", "search", "Search or filter what this screen shows; go to a time or event", "/"),
    "find.words": Key("F", "find", "Search all sessions"),
    "bookmark.add": Key("b", "bookmark", "Bookmark this moment, or a session to compare; again, remove the bookmark"),
    "judge": Key("g", "good or bad", "Label the session good, then bad, then neither; on the bench, what fired"),
    "words.hide": Key("h", "hide words", "Hide all text of the log, or show it"),
    "timeline.closer": Key("plus,equals_sign", "zoom in", "Show a shorter part of the timeline", "+"),
    "timeline.wider": Key("minus", "zoom out", "Show a longer part of the timeline", "-"),
    "part.0": Key("0", "timeline", "Focus the timeline"),
    **{f"part.{n}": Key(str(n), f"part {n}", f"Panel, tab or filter number {n}") for n in range(1, 7)},
    "row.up": Key("up", "up", "Up", "↑↓"),
    "row.down": Key("down", "down", "Down", "↑↓"),
    "page.up": Key("pageup", "page up", "A page up; without a list, ten events back"),
    "page.down": Key("pagedown", "page down", "A page down; without a list, ten events forward"),
    "open": Key("enter", "open", "Open what is selected"),
    "back": Key("escape", "back", "Close the innermost thing, then go back"),
    "view": Key("v", "view", "Change how this is shown"),
    "fold": Key("o", "expand", "Expand or collapse"),
    "alone": Key("z", "zoom", "Show this panel alone, or with the others"),
    "edit": Key("E", "edit", "Open the file in your editor"),
    "tune.whatif": Key("w", "what if", "Switch between what happened and what would have happened"),
    "tune.save": Key("S", "save", "Use or save the changed settings, or load a profile"),
    "tune.undo": Key("u,ctrl+z", "undo", "Undo the last change of a setting"),
    "tune.redo": Key("U,ctrl+y", "redo", "Redo the change that was undone"),
    "tune.reset": Key("r", "reset", "Reset this setting or group"),
    "quit": Key("q", "quit", "Leave nooscope"),
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
