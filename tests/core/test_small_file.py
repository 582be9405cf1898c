"""Files a person writes are read whole or refused with a word, never for ever."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import themes
from core.agents.tables import read_tables
from core.errors import PolicyError, SettingsError
from core.folders import LARGEST, small_file
from core.settings.layers import read_file
from core.store.carry_over import PersonaStore
from core.store.profiles import read_policy, read_profile, read_rules

PERSONA = f"persona-{'0' * 32}.json"


def pipe(path: Path) -> str:
    os.mkfifo(path)
    return "not a regular file"


def device(path: Path) -> str:
    path.symlink_to("/dev/zero")
    return "not a regular file"


def folder(path: Path) -> str:
    path.mkdir()
    return "not a regular file"


def giant(path: Path) -> str:
    path.write_bytes(b"#" * (LARGEST + 1))
    return "more than 1,000,000 bytes"


Unfit = Callable[[Path], str]


@pytest.fixture(params=[pipe, device, folder, giant])
def unfit(request: pytest.FixtureRequest) -> Unfit:
    made: Unfit = request.param
    return made


def test_a_file_just_small_enough_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"#" * LARGEST)
    assert small_file(path) == b"#" * LARGEST
    with pytest.raises(FileNotFoundError):
        small_file(tmp_path / "none")


def test_the_null_device_is_an_empty_file() -> None:
    assert small_file(Path(os.devnull)) == b""


def test_settings_are_refused_with_a_word(tmp_path: Path, unfit: Unfit) -> None:
    why = unfit(tmp_path / "a.toml")
    layer, (fault,) = read_file(tmp_path / "a.toml", "person")
    assert layer.values == ()
    assert why in str(fault) and "a.toml: cannot be read" in str(fault)


def test_a_profile_is_refused_with_a_word(tmp_path: Path, unfit: Unfit) -> None:
    why = unfit(tmp_path / "a.toml")
    profile = read_profile(tmp_path / "a.toml", "user")
    assert not profile.values and why in str(profile.complaints[0])


def test_rules_and_policies_are_refused_with_a_word(tmp_path: Path, unfit: Unfit) -> None:
    why = unfit(tmp_path / "a")
    with pytest.raises(PolicyError, match=why):
        read_rules(tmp_path / "a")
    with pytest.raises(PolicyError, match=why):
        read_policy(tmp_path / "a")


def test_tables_are_refused_with_a_word(tmp_path: Path, unfit: Unfit) -> None:
    why = unfit(tmp_path / "a.toml")
    with pytest.raises(SettingsError, match=why):
        read_tables(tmp_path / "a.toml")


def test_a_theme_is_refused_with_a_word(tmp_path: Path, unfit: Unfit) -> None:
    why = unfit(tmp_path / "a.toml")
    (said,) = themes.load(tmp_path).complaints
    assert why in said


def test_a_persona_is_passed_over(tmp_path: Path, unfit: Unfit) -> None:
    unfit(tmp_path / PERSONA)
    store = PersonaStore(tmp_path, tmp_path / "record.json")
    assert store.others() == [] and store.skipped == 1
