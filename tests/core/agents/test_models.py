"""Context windows, prices and turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.agents.models import Models
from core.agents.usage import Usage
from core.errors import SettingsError
from core.events import Turn
from core.settings.logs import ContextWindowSettings
from tests.core.agents.samples import MODELS


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("claude-sonnet-4-5-20250929", 200_000),
        ("claude-sonnet-4-5-20250929[1m]", 1_000_000),
        ("anthropic/claude-opus-4-1", 200_000),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", 200_000),
        ("gpt-5-codex", 400_000),
        ("openai/gpt-4o-2024-08-06", 128_000),
        ("gemini-2.5-pro", 1_048_576),
        ("never-heard-of", 200_000),
        ("", 200_000),
    ],
)
def test_windows(model: str, window: int) -> None:
    """By name, with dates, suffixes and providers left out."""
    assert MODELS.window(model) == window


def test_a_window_seen_to_be_larger_is_larger() -> None:
    """Tokens beyond the usual window prove the extended one."""
    assert MODELS.window("claude-sonnet-4-5", 200_000) == 200_000
    assert MODELS.window("claude-sonnet-4-5", 200_001) == 1_000_000
    assert MODELS.window("claude-sonnet-4-5", 1_200_000) == 1_200_000
    own = Models.load(settings=ContextWindowSettings(default_window=64_000, extended_window=128_000))
    assert (own.window("never-heard-of"), own.window("never-heard-of", 70_000)) == (64_000, 128_000)


def test_costs() -> None:
    """Each kind of token at its own price; what is unknown is None, never 0."""
    million = 1_000_000
    assert MODELS.cost("claude-sonnet-4-5", million, 0) == pytest.approx(3.0)
    assert MODELS.cost("claude-sonnet-4-5", 0, million, million, million) == pytest.approx(15 + 0.3 + 3.75)
    assert MODELS.cost("claude-sonnet-4-5", 0, 0) == 0.0
    assert MODELS.cost("never-heard-of", 10, 10) is None
    assert MODELS.cost("gpt-5.9-ultra", 10, 10) is None
    assert MODELS.cost("gpt-4", 10, 10, 5) is None
    assert MODELS.cost("kimi-k2", 0, 0) is None


def test_a_turn_adds_up_its_context() -> None:
    """Sent, read from cache and written to cache; the log's own window and cost win."""
    turn = MODELS.turn(1.0, model="gpt-5", input_tokens=10, output_tokens=7, cache_read=100, cache_write=5)
    assert (turn.context_tokens, turn.context_window) == (115, 400_000)
    told = MODELS.turn(1.0, model="gpt-5", input_tokens=10, window=272_000, cost=0.5)
    assert (told.context_window, told.cost) == (272_000, 0.5)


def test_a_users_table_is_laid_over_ours(tmp_path: Path) -> None:
    """New models, and single figures of known ones."""
    table = tmp_path / "models.toml"
    table.write_text(
        "[models]\nzork = { window = 9000, input = 1.0, output = 2.0 }\ngpt-5 = { input = 100.0 }\n"
    )
    own = Models.load(table)
    assert own.window("zork-2026-01-01") == 9000
    assert own.cost("gpt-5", 1_000_000, 1_000_000) == pytest.approx(110.0)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[models]\nzork = 3", "models.zork"),
        ("[models]\nzork = { windw = 3 }", "models.zork.windw"),
        ("[models]\nzork = { input = -1.0 }", "models.zork.input"),
        ("[models]\nzork = { window = true }", "models.zork.window"),
        ("[modles]\n", "modles"),
        ("models = 1", "models"),
    ],
)
def test_a_broken_table_names_its_field_and_the_last_good_stays(
    tmp_path: Path, text: str, named: str
) -> None:
    """The message says where to look."""
    table = tmp_path / "models.toml"
    table.write_text(text)
    with pytest.raises(SettingsError) as error:
        Models.load(table)
    assert named in str(error.value)
    own = Models.load()
    assert named in own.update(table)
    assert own.window("gpt-4o") == 128_000


def _turn(message: str, output: int, context: int = 0, agent: str = "main") -> Turn:
    return MODELS.turn(
        1.0, model="claude-opus-4-1", message=message, output_tokens=output, input_tokens=context, agent=agent
    )


def test_the_last_usage_of_a_message_counts() -> None:
    """A message told on several lines, and again later, is one turn."""
    usage = Usage(MODELS)
    assert usage.see(_turn("a", 1)) is None
    assert usage.see(_turn("a", 9)) is None
    closed = usage.see(_turn("b", 2))
    assert closed is not None
    assert closed.output_tokens == 9
    assert usage.see(_turn("a", 9)) is None
    assert usage.see(_turn("c", 3, agent="child")) is None
    assert [turn.id for turn in usage.finish()] == ["b", "c"]
    assert usage.finish() == []
    assert usage.once(_turn("b", 2)) is None


def test_a_wide_window_stays_wide() -> None:
    """After a compaction the context is small again, but the window is not."""
    usage = Usage(MODELS)
    windows = [
        turn.context_window
        for message, context in (("a", 1000), ("b", 250_000), ("c", 1000))
        if (turn := usage.once(_turn(message, 1, context)))
    ]
    assert windows == [200_000, 1_000_000, 1_000_000]
