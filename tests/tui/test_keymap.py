"""Keys of the person's own: every one that leads nowhere is named, with what it may be."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.keys import _character_to_key

from core.settings import Settings
from tests.tui.conftest import shown, until
from tests.tui.test_app import Make, changed
from tui.keymap import key_ids, keymap_faults
from tui.keys import KEYS

_KEY = "one is called x, X, f7, ctrl+x or slash"


def test_every_screen_and_panel_has_its_ids_there() -> None:
    known = key_ids()
    assert {binding.id for binding in KEYS if not isinstance(binding, tuple)} <= set(known)
    assert {"tune.undo", "help.search", "fleet.open", "transcript.seek"} <= set(known)


@pytest.mark.parametrize("keys", ["z", "Z", "f7", "ctrl+x", "slash", "/", "+", "full_stop", "f7, ctrl+right"])
def test_what_a_key_may_be_called(keys: str) -> None:
    assert keymap_faults({"play.start": keys}) == []


@pytest.mark.parametrize("character", [chr(number) for number in range(33, 127) if chr(number) != ","])
def test_every_character_may_be_called_by_its_sign_or_its_name(character: str) -> None:
    named = _character_to_key(character)
    assert keymap_faults({"play.start": f"{character}, {named}, ctrl+{named}"}) == []


@pytest.mark.parametrize("key", ["SPACE", "Escape", "esc", "del", "reverse_solidus", "full stop", "pgup"])
def test_what_no_key_is_called(key: str) -> None:
    assert keymap_faults({"play.start": key}) == [f"screen.keymap: play.start: {key} is no key; {_KEY}"]


@pytest.mark.parametrize(
    ("keymap", "said"),
    [
        ({"play.strat": "z"}, "screen.keymap: nothing is called play.strat; did you mean play.start?"),
        ({"qqqq": "z"}, "screen.keymap: nothing is called qqqq; the help (?) names what keys do"),
        ({"play.start": "ctl+x"}, f"screen.keymap: play.start: ctl+x is no key; {_KEY}"),
        ({"play.start": "z,"}, f"screen.keymap: play.start: nothing is no key; {_KEY}"),
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
