"""One key, one meaning: every binding comes from the table, and a person's own keys are checked."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import _character_to_key

from core.settings import Settings
from tests.tui.conftest import shown, until
from tests.tui.test_app import Make, changed
from tui.keys import APP_KEYS, KEYS, keymap_faults

_KEY = "write x, X, f7, ctrl+x or slash"


def bindings(kind: type[DOMNode]) -> Iterator[tuple[str, Binding]]:
    """Every binding that a class of the program declares."""
    if kind.__module__.startswith("tui."):
        for binding in kind.__dict__.get("BINDINGS", ()):
            assert isinstance(binding, Binding), (kind, binding)
            yield kind.__name__, binding
    for inner in kind.__subclasses__():
        yield from bindings(inner)


def test_one_key_has_one_meaning_on_every_screen() -> None:
    for room in ("tui.screens", "tui.widgets"):
        places = importlib.import_module(room).__path__
        for module in pkgutil.walk_packages(places, f"{room}."):
            importlib.import_module(module.name)
    importlib.import_module("tui.app")
    declared = list(bindings(DOMNode))
    for place, binding in declared:
        assert binding.id in KEYS, (place, binding)
        assert binding.key == KEYS[binding.id].key, (place, binding)
        assert binding.description and binding.tooltip, (place, binding)
    assert {binding.id for _, binding in declared} == set(KEYS)
    keys = [key for one in KEYS.values() for key in one.key.split(",")]
    assert len(keys) == len(set(keys))
    assert len(KEYS) <= 60


def test_the_keys_of_the_app_are_declared_once() -> None:
    ids = [binding.id for binding in APP_KEYS if isinstance(binding, Binding)]
    assert len(ids) == len(set(ids)) == len(APP_KEYS)


@pytest.mark.parametrize("keys", ["z", "Z", "f7", "ctrl+x", "slash", "/", "+", "full_stop", "f7, ctrl+right"])
def test_what_a_key_may_be_called(keys: str) -> None:
    assert keymap_faults({"play.start": keys}) == []


@pytest.mark.parametrize("character", [chr(number) for number in range(33, 127) if chr(number) != ","])
def test_every_character_may_be_called_by_its_sign_or_its_name(character: str) -> None:
    named = _character_to_key(character)
    assert keymap_faults({"play.start": f"{character}, {named}, ctrl+{named}"}) == []


@pytest.mark.parametrize("key", ["SPACE", "Escape", "esc", "del", "reverse_solidus", "full stop", "pgup"])
def test_what_no_key_is_called(key: str) -> None:
    assert keymap_faults({"play.start": key}) == [f"screen.keymap: play.start: {key} is not a key; {_KEY}"]


@pytest.mark.parametrize(
    ("keymap", "said"),
    [
        ({"play.strat": "z"}, "screen.keymap: unknown id play.strat; did you mean play.start?"),
        ({"qqqq": "z"}, "screen.keymap: unknown id qqqq; help (?) lists the ids"),
        ({"play.start": "ctl+x"}, f"screen.keymap: play.start: ctl+x is not a key; {_KEY}"),
        ({"play.start": "z,"}, f"screen.keymap: play.start: an empty name is not a key; {_KEY}"),
    ],
)
def test_what_leads_nowhere_is_named(keymap: dict[str, str], said: str) -> None:
    assert keymap_faults(keymap) == [said]


async def test_it_is_said_on_the_screen_and_the_others_work(log: Path, app_on: Make, still: Settings) -> None:
    app = app_on(log, settings=changed(still, keymap={"play.strat": "y", "play.start": "z"}))
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await until(pilot, lambda: bool(app._notifications))
        assert ["did you mean play.start?" in one.message for one in app._notifications] == [True]
        await pilot.press("z")
        await shown(app, pilot, lambda view: view.index == 0)
