"""Affect policies as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.engine.affect.policy import BUILT_IN
from core.errors import PolicyError
from core.store.profiles import last_policy, read_policy

GOOD = 'name = "strict"\n'


def test_a_file_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert read_policy(tmp_path / "none.toml") is None
    assert last_policy([tmp_path / "none.toml"]) == (None, [])


def test_a_policy_is_read_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(GOOD)
    policy = read_policy(tmp_path / "a.toml")
    assert policy is not None and policy.name == "strict" != BUILT_IN.name


@pytest.mark.parametrize("text", ["name = [", "nothing_such = 1\n", 'name = "x"\n[fields.risk]\nceiling = "high"\n'])
def test_a_broken_file_is_named_and_the_last_good_one_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / "good.toml").write_text(GOOD)
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(PolicyError, match=r"bad\.toml"):
        read_policy(tmp_path / "bad.toml")
    policy, faults = last_policy([tmp_path / "good.toml", tmp_path / "bad.toml"])
    assert policy is not None and policy.name == "strict"
    assert len(faults) == 1 and "bad.toml" in faults[0]
