"""Context windows, prices and turns."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest

from core.agents.models import Models, Usage
from core.agents.tables import OURS, plain_table
from core.errors import SettingsError
from core.events import Turn
from core.settings.program import ContextWindowSettings
from tests.core.agents.samples import MODELS


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("claude-sonnet-4-5-20250929", 200_000),
        ("claude-sonnet-4-5-20250929[1m]", 1_000_000),
        ("anthropic/claude-opus-4-1", 200_000),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", 200_000),
        ("gpt-5-codex", 272_000),
        ("claude-opus-4-8", 1_000_000),
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
    assert MODELS.cost("claude-sonnet-4-6", million, 0) == pytest.approx(3.0)
    assert MODELS.cost("claude-sonnet-4-6", 0, million, million, million) == pytest.approx(15 + 0.3 + 3.75)
    assert MODELS.cost("claude-sonnet-4-6", 0, 0) == 0.0
    assert MODELS.cost("never-heard-of", 10, 10) is None
    assert MODELS.cost("gpt-5.9-ultra", 10, 10) is None
    assert MODELS.cost("gpt-4", 10, 10, 5) is None
    assert MODELS.cost("qwen3-coder", 0, 0) is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("claude-opus-4.8", "claude-opus-4-8"),
        ("Claude-Sonnet-4.6", "claude-sonnet-4-6"),
        ("claude-3.7-sonnet", "claude-3-7-sonnet-20250219"),
        ("anthropic/claude-3-5-haiku", "claude-haiku-3-5"),
        ("@google/gemini-3-pro-preview", "gemini-3-pro-preview"),
        ("google/gemini-3-flash", "gemini-3-flash-preview"),
        ("us.anthropic.claude-opus-4-1-20250805-v1:0", "claude-opus-4-1"),
        ("bedrock/eu-west-1/anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("vertex_ai/claude-opus-4@20250514", "claude-opus-4-0"),
        ("openrouter/anthropic/claude-opus-4.8:beta", "claude-opus-4-8"),
        ("claude-opus-4-6-thinking", "claude-opus-4-6"),
        ("gpt-5.5-2026-04-23", "gpt-5-5"),
        ("litellm_proxy/minimax-m2.7", "MiniMax-M2.7"),
        ("zai-org/GLM-5.2", "glm-5-2"),
        ("moonshotai/kimi-k2-instruct", "kimi-k2"),
        ("opus", "claude-opus-5-5"),
        ("sonnet", "claude-sonnet-5-5"),
        ("haiku", "claude-haiku-5-5"),
    ],
)
def test_a_model_is_known_however_it_is_written(written: str, meant: str) -> None:
    """Dots, vendors, regions, dates, endings and the families' bare names."""
    million = 1_000_000
    assert MODELS.cost(written, 1, 1) is not None or MODELS.free(written)
    for tokens in ((million, 0), (0, million), (1000, 0, 0, 50), (0, 0, 90)):
        assert MODELS.cost(written, *tokens) == MODELS.cost(meant, *tokens)
    assert MODELS.window(written) == MODELS.window(meant)


@pytest.mark.parametrize(
    "written", ["", "gpt", "claude", "claude-opus", "0", "preview", "v1:0", "anthropic/", "aide-gpt-5"]
)
def test_what_is_no_name_of_a_model_is_unknown(written: str) -> None:
    """Nothing is guessed from a part of a name."""
    assert MODELS.cost(written, 1, 1) is None


@pytest.mark.parametrize(
    ("model", "limit", "below", "above"),
    [
        ("claude-sonnet-4-5", 200_000, (3.0, 15.0, 0.3, 3.75, 6.0), (6.0, 22.5, 0.6, 7.5, 12.0)),
        ("gemini-3.1-pro-preview", 200_000, (2.0, 12.0, 0.2), (4.0, 18.0, 0.4)),
        ("gpt-5.5", 272_000, (5.0, 30.0, 0.5), (10.0, 45.0, 1.0)),
        ("gpt-5.4", 272_000, (2.5, 15.0, 0.25), (5.0, 22.5, 0.5)),
        ("claude-opus-4-8", 200_000, (5.0, 25.0, 0.5, 6.25, 10.0), (5.0, 25.0, 0.5, 6.25, 10.0)),
    ],
)
def test_a_large_context_has_its_own_prices(
    model: str, limit: int, below: tuple[float, ...], above: tuple[float, ...]
) -> None:
    """All that was sent counts, and the whole request is charged at the higher price."""
    for context, prices in ((limit - 1, below), (limit, below), (limit + 1, above)):
        assert MODELS.cost(model, context - 2000, 500, 2000) == pytest.approx(
            ((context - 2000) * prices[0] + 500 * prices[1] + 2000 * prices[2]) / 1e6
        )
        if len(prices) > 3:
            assert MODELS.cost(model, 0, 0, 0, context, 1000) == pytest.approx(
                ((context - 1000) * prices[3] + 1000 * prices[4]) / 1e6
            )


def test_cache_writes_of_both_kinds() -> None:
    """Five minutes cost 1.25 times what is sent, an hour twice; without such a price, what is sent."""
    million = 1_000_000
    assert MODELS.cost("claude-opus-4-8", 0, 0, 0, million) == pytest.approx(6.25)
    assert MODELS.cost("claude-opus-4-8", 0, 0, 0, million, million) == pytest.approx(10.0)
    assert MODELS.cost("claude-opus-4-8", 0, 0, 0, million, 2 * million) == pytest.approx(10.0)
    assert MODELS.cost("gpt-5", 0, 0, 0, million) == pytest.approx(1.25)
    assert MODELS.cost("gpt-5", 0, 0, 0, million, 1) is None


def test_the_table_tells_its_age_and_sources() -> None:
    """A day and two packages with their versions."""
    assert MODELS.made_on is not None and MODELS.made_on >= date(2026, 11, 16)
    assert [source.split()[0] for source in MODELS.sources] == ["genai-prices", "litellm"]
    assert len(MODELS) > 200


def test_a_turn_without_tokens_has_no_cost() -> None:
    """A log that tells no tokens does not say that nothing was spent."""
    assert MODELS.turn(1.0, model="claude-opus-4-8").cost is None
    assert MODELS.turn(1.0, model="claude-opus-4-8", cost=0.5).cost == 0.5
    assert MODELS.turn(1.0, model="claude-opus-4-8", output_tokens=1).cost == pytest.approx(25e-6)


def test_a_turn_adds_up_its_context() -> None:
    """Sent, read from cache and written to cache; the log's own window and cost win."""
    turn = MODELS.turn(1.0, model="gpt-5", input_tokens=10, output_tokens=7, cache_read=100, cache_write=5)
    assert (turn.context_tokens, turn.context_window) == (115, 272_000)
    told = MODELS.turn(1.0, model="gpt-5", input_tokens=10, window=258_000, cost=0.5)
    assert (told.context_window, told.cost) == (258_000, 0.5)


def test_a_users_table_is_laid_over_ours(tmp_path: Path) -> None:
    """New models, and single figures of known ones."""
    table = tmp_path / "models.toml"
    table.write_text("[models]\nzork = { window = 9000, input = 1.0, output = 2.0 }\ngpt-5 = { input = 100.0 }\n")
    own = Models.load(table)
    assert own.window("zork-2026-01-01") == 9000
    assert own.cost("gpt-5", 1_000_000, 1_000_000) == pytest.approx(110.0)


def test_a_persons_row_wins_over_tiers_spellings_and_aliases(tmp_path: Path) -> None:
    """A price of one's own holds for every context; a dated row keeps what it does not say."""
    table = tmp_path / "models.toml"
    table.write_text(
        '[models]\n"gpt-5.5" = { input = 1.0 }\nclaude-sonnet-4-5-20250929 = { output = 1.0 }\n'
        "zork = { input = 1.0, output = 1.0, tiers = [{ over = 10, input = 2.0 }] }\n"
        '[aliases]\nopus = "claude-opus-4-1"\nbest = "zork"\n'
    )
    own = Models.load(table)
    assert own.cost("gpt-5-5", 300_000, 0) == pytest.approx(0.3)
    assert own.cost("claude-sonnet-4-5-20250929", 100_000, 100_000) == pytest.approx(0.4)
    assert own.cost("claude-sonnet-4-5", 100_000, 100_000) == pytest.approx(1.8)
    assert own.cost("opus", 100_000, 0) == pytest.approx(1.5)
    assert own.cost("best", 10, 0) == pytest.approx(10e-6)
    assert own.cost("best", 11, 0) == pytest.approx(22e-6)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[models]\nzork = 3", "models.zork"),
        ("[models]\nzork = { windw = 3 }", "models.zork.windw"),
        ("[models]\nzork = { input = -1.0 }", "models.zork.input"),
        ("[models]\nzork = { window = true }", "models.zork.window"),
        ("[modles]\n", "modles"),
        ("models = 1", "models"),
        ("[models]\nzork = { tiers = 3 }", "models.zork.tiers"),
        ("[models]\nzork = { tiers = [{ input = 1.0 }] }", "models.zork.tiers"),
        ("[models]\nzork = { tiers = [{ over = 1, inptu = 1.0 }] }", "models.zork.tiers.inptu"),
        ('[aliases]\nbest = "zork"', "aliases.best"),
    ],
)
def test_a_broken_table_names_its_field(tmp_path: Path, text: str, named: str) -> None:
    """The message says where to look."""
    table = tmp_path / "models.toml"
    table.write_text(text)
    with pytest.raises(SettingsError) as error:
        Models.load(table)
    assert named in str(error.value)


def _turn(message: str, output: int, context: int = 0, agent: str = "main") -> Turn:
    return MODELS.turn(
        1.0, model="claude-opus-4-1", message=message, output_tokens=output, input_tokens=context, agent=agent
    )


def test_the_last_usage_of_a_message_counts() -> None:
    """A message told on several lines, and again later, is one turn."""
    usage = Usage(MODELS)
    assert usage.update(_turn("a", 1)) is None
    assert usage.update(_turn("a", 9)) is None
    closed = usage.update(_turn("b", 2))
    assert closed is not None
    assert closed.output_tokens == 9
    assert usage.update(_turn("a", 9)) is None
    assert usage.update(_turn("c", 3, agent="child")) is None
    assert [turn.id for turn in usage.finish()] == ["b", "c"]
    assert [turn.id for turn in usage.close_all()] == ["b", "c"]
    assert usage.finish() == []
    assert usage.deduplicate(_turn("b", 2)) is None


def test_a_wide_window_stays_wide() -> None:
    """After a compaction the context is small again, but the window is not."""
    usage = Usage(MODELS)
    windows = [
        turn.context_window
        for message, context in (("a", 1000), ("b", 250_000), ("c", 1000))
        if (turn := usage.deduplicate(_turn(message, 1, context)))
    ]
    assert windows == [200_000, 1_000_000, 1_000_000]


def test_a_table_that_changed_is_noticed_and_ours_stays(tmp_path: Path) -> None:
    """Ours is read once a process; the user's is read again, and leaves no trace in ours."""
    table = tmp_path / "models.toml"
    before = Models.load().window("gpt-4o")
    for window in (1111, 2222):
        table.write_text(f"[models.gpt-4o]\nwindow = {window}\n")
        assert Models.load(table).window("gpt-4o") == window
    assert Models.load().window("gpt-4o") == before
    assert Models.load()._table is Models.load()._table


@pytest.mark.parametrize(
    ("name", "window"),
    [("deepseek-v4-flash-free", 1_000_000), ("moonshotai/kimi-k2.5:free", 262_144), ("nobody-knows:free", 200_000)],
)
def test_a_model_that_is_given_away_costs_nothing(name: str, window: int) -> None:
    models = Models.load()
    assert models.cost(name, 1000, 1000, 1000, 1000, 500) == 0.0
    assert models.free(name) and not models.free(name.rpartition("free")[0][:-1])
    assert models.window(name) == window


def test_a_persons_own_row_for_a_free_model_wins(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text('[models]\n"deepseek-v4-flash-free" = { input = 1, output = 2 }\n')
    assert Models.load(path).cost("deepseek-v4-flash-free", 1_000_000, 0) == 1.0


def test_our_own_table_is_read_as_toml_says() -> None:
    text = (OURS / "models.toml").read_text("utf-8")
    told = tomllib.loads(text)
    assert plain_table(text) == told
    assert len(told["models"]) > 100 and any("tiers" in row for row in told["models"].values())
