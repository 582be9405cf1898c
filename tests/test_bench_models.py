"""How the table of models is made from the public tables."""

from __future__ import annotations

import tomllib
from typing import Any

from bench.models import genai_rows, litellm_rows, merged, newest, written

GENAI = """
import datetime
providers: list[Provider] = [
    Provider(
        id='anthropic',
        models=[
            ModelInfo(
                id='claude-opus-9-latest',
                context_window=1000000,
                prices=ModelPrice(
                    input_mtok=TieredPrices(base=Decimal('5'), tiers=[Tier(start=9, price=Decimal('10'))]),
                    output_mtok=Decimal('25'),
                    cache_write_1h_mtok=Decimal('10'),
                ),
            ),
            ModelInfo(
                id='claude-sonnet-9.5',
                prices=[
                    ConditionalPrice(prices=ModelPrice(input_mtok=Decimal('9'))),
                    ConditionalPrice(
                        constraint=StartDateConstraint(start_date=datetime.date(2026, 7, 30)),
                        prices=ModelPrice(input_mtok=Decimal('2'), output_mtok=Decimal('4')),
                    ),
                    ConditionalPrice(
                        constraint=StartDateConstraint(start_date=datetime.date(2999, 1, 1)),
                        prices=ModelPrice(input_mtok=Decimal('1')),
                    ),
                    ConditionalPrice(
                        constraint=TimeOfDateConstraint(start_time=datetime.time(0), end_time=None),
                        prices=ModelPrice(input_mtok=Decimal('3')),
                    ),
                ],
            ),
            ModelInfo(id='claude-opus-9:free', prices=ModelPrice(input_mtok=Decimal('0'))),
            ModelInfo(id='titan-2', prices=ModelPrice(input_mtok=Decimal('7'))),
        ],
    ),
    Provider(id='shop', models=[ModelInfo(id='claude-opus-9', prices=ModelPrice(input_mtok=Decimal('1')))]),
]
"""
LITELLM: dict[str, dict[str, Any]] = {
    "claude-opus-9": {
        "litellm_provider": "anthropic",
        "mode": "chat",
        "input_cost_per_token": 6e-06,
        "max_input_tokens": 872_000,
    },
    "claude-opus-9-20260101": {"litellm_provider": "anthropic", "mode": "chat", "input_cost_per_token": 1e-06},
    "gpt-9": {
        "litellm_provider": "openai",
        "mode": "responses",
        "input_cost_per_token": 2e-06,
        "input_cost_per_token_above_272k_tokens": 4e-06,
        "output_cost_per_token": 1e-05,
        "cache_creation_input_token_cost": 0,
    },
    "dashscope/qwen9-coder": {
        "litellm_provider": "dashscope",
        "mode": "chat",
        "tiered_pricing": [
            {"range": [32000.0, 128000.0], "input_cost_per_token": 2e-06},
            {"range": [0, 32000.0], "input_cost_per_token": 1e-06, "output_cost_per_token": 5e-06},
        ],
    },
    "azure/gpt-9": {"litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 9e-06},
    "gpt-9-image": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 9e-06},
    "text-9": {"litellm_provider": "openai", "mode": "embedding", "input_cost_per_token": 9e-06},
}


def test_rows_of_the_first_table() -> None:
    """The makers' own models at today's price, tiers with them."""
    assert genai_rows(GENAI) == {
        "claude-opus-9": {
            "window": 1_000_000,
            "input": 5.0,
            "output": 25.0,
            "cache_write_1h": 10.0,
            "tiers": [{"over": 9, "input": 10.0}],
        },
        "claude-sonnet-9-5": {"input": 2.0, "output": 4.0},
    }


def test_rows_of_the_second_table() -> None:
    """Without resellers, dated names and models of another kind."""
    rows = litellm_rows(LITELLM)
    assert rows == {
        "claude-opus-9": {"input": 6.0, "window": 872_000},
        "gpt-9": {"input": 2.0, "output": 10.0, "tiers": [{"over": 272_000, "input": 4.0}]},
        "qwen9-coder": {"input": 1.0, "output": 5.0, "tiers": [{"over": 32_000, "input": 2.0}]},
    }


def test_the_tables_are_laid_together() -> None:
    """Prices of the first, input limits of the second, and rows kept by hand over both."""
    kept: dict[str, dict[str, Any]] = {"gpt-9": {"window": 400_000, "source": "someone"}, "zork.1": {"input": 1.0}}
    rows = merged(genai_rows(GENAI), litellm_rows(LITELLM), kept)
    assert (rows["claude-opus-9"]["input"], rows["claude-opus-9"]["window"]) == (5.0, 872_000)
    assert (rows["gpt-9"]["input"], rows["gpt-9"]["window"]) == (2.0, 400_000)
    assert rows["zork-1"] == {"input": 1.0}
    assert newest({"claude-opus-9": {}, "claude-opus-10": {}, "claude-opus-9-5": {}, "claude-opus-x": {}}) == {
        "opus": "claude-opus-10"
    }
    table = tomllib.loads(written(rows, {"opus": "claude-opus-9"}, "2026-01-31", ["someone 1.0"]))
    assert table["models"] == rows
    assert (table["made"], table["sources"]) == ("2026-01-31", ["someone 1.0"])
    assert table["aliases"] == {"opus": "claude-opus-9"}
