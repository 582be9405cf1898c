"""Makes the table of models from the public tables that others keep: `make models`.

The two packages are downloaded, opened and read; nothing of them is installed or run.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.agents.models import plain_name
from core.agents.tables import OURS

_OVERLAY = Path(__file__).with_suffix(".toml")
_TABLE = OURS / "models.toml"
_PRICES = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
# Makers of models, and how the names of theirs that are not someone else's begin.
_GENAI = {
    "anthropic": "claude-",
    "openai": r"gpt-|o\d|codex|chatgpt",
    "google": "gemini-|gemma-",
    "deepseek": "deepseek",
    "moonshotai": "kimi",
    "zai": "glm",
    "x-ai": "grok",
    "mistral": "mistral|ministral|magistral|codestral|devstral",
    "minimax": "minimax",
}
_LITELLM = {
    "anthropic": "claude-",
    "openai": r"gpt-|o\d|codex|chatgpt",
    "gemini": "gemini-|gemma-",
    "deepseek": "deepseek",
    "moonshot": "kimi",
    "zai": "glm",
    "xai": "grok",
    "mistral": "mistral|ministral|magistral|codestral|devstral",
    "minimax": "minimax",
    "dashscope": "qwen",
}
_FIELDS = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "cache_write_1h": "cache_creation_input_token_cost_above_1hr",
}
_OVER = re.compile(r"^input_cost_per_token_above_(\d+)k_tokens$")
# Models that no coding agent runs on.
_UNLIKE = re.compile(
    r"image|tts|audio|realtime|embed|transcribe|ocr|live|vision|moderation|search|whisper|voice|translate|omni"
    r"|robotics|computer-use|^ft:|:free|nano-banana|deep-research"
)
_DATED = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$|@|:|/")
_FAMILIES = ("opus", "sonnet", "haiku", "fable")

_HEADER = (
    "# Made by `make models`. Windows are the tokens that may be sent; prices are US dollars for a",
    "# million tokens; a price left out is unknown. `tiers` are the prices of a whole request whose",
    "# context is larger than `over`. A file of the same form can be named in the settings",
    "# (ingest.tables.models): what it says of a model replaces what is said here. Vendors, dates and",
    "# endings of a name are left out when it is looked up, and dots count as dashes.",
    "",
)

Row = dict[str, Any]


def main() -> int:
    """Download, read, merge and write."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", place]
        subprocess.run([*command, "genai-prices", "litellm"], check=True)
        genai, litellm = (next(folder.glob(f"{name}-*.whl")) for name in ("genai_prices", "litellm"))
        told = genai_rows(_member(genai, "genai_prices/data.py").decode())
        more = litellm_rows(json.loads(_member(litellm, "litellm/model_prices_and_context_window_backup.json")))
        sources = [f"{name} {wheel.name.split('-')[1]}" for name, wheel in _named(genai, litellm)]
    overlay = tomllib.loads(_OVERLAY.read_text())
    rows = merged(told, more, overlay["models"])
    aliases = {**newest(rows), **overlay["aliases"]}
    today = datetime.now(UTC).date().isoformat()
    _TABLE.write_text(written(rows, aliases, today, sources))
    print(f"{_TABLE.name}: {len(rows)} models from {' and '.join(sources)}")
    return 0


def genai_rows(source: str) -> dict[str, Row]:
    """The rows of genai-prices' data module, which is one list of constructor calls."""
    body = ast.parse(source).body
    providers = next(_value(one.value) for one in body if isinstance(one, ast.AnnAssign) and one.value)
    rows: dict[str, Row] = {}
    for provider in providers:
        own = _GENAI.get(provider["id"])
        for model in provider["models"] if own else ():
            name = plain_name(model["id"].removesuffix("-latest"))
            prices = _current(model["prices"])
            if own is None or not re.fullmatch(r"[\w-]+", name):
                continue
            if re.match(own, name) and not _UNLIKE.search(name) and "input_mtok" in prices:
                rows[name] = _priced({key: prices.get(f"{key}_mtok") for key in _PRICES})
                if model.get("context_window"):
                    rows[name]["window"] = model["context_window"]
    return rows


def litellm_rows(table: dict[str, Row]) -> dict[str, Row]:
    """The rows of litellm's table that the models' makers sell themselves."""
    rows: dict[str, Row] = {}
    for key, told in table.items():
        provider = str(told.get("litellm_provider", ""))
        own = _LITELLM.get(provider)
        bare = key.removeprefix(f"{provider}/")
        name = plain_name(bare)
        if own is None or told.get("mode") not in ("chat", "responses") or _DATED.search(bare):
            continue
        stepped = sorted(told.get("tiered_pricing") or (), key=lambda step: step["range"][0])
        told = {**told, **stepped[0]} if stepped else told
        if not re.match(own, name) or _UNLIKE.search(name) or "input_cost_per_token" not in told:
            continue
        base = {field: _million(told.get(given)) for field, given in _FIELDS.items()}
        row: Row = {field: price for field, price in base.items() if price is not None}
        if not row.get("cache_write"):
            row.pop("cache_write", None)
        tiers = [_over(told, int(found.group(1))) for field in told if (found := _OVER.match(field))]
        tiers += [_step(step) for step in stepped[1:]]
        if tiers:
            row["tiers"] = sorted(tiers, key=lambda tier: tier["over"])
        if told.get("max_input_tokens"):
            row["window"] = int(told["max_input_tokens"])
        rows[name] = row
    return rows


def merged(told: dict[str, Row], more: dict[str, Row], overlay: dict[str, Row]) -> dict[str, Row]:
    """Prices of the first table before the second's; input limits of the second before the first's."""
    rows: dict[str, Row] = {}
    for name in sorted({*told, *more, *map(plain_name, overlay)}):
        first, second = told.get(name), more.get(name, {})
        row = dict(first or second)
        if "window" in second:
            row["window"] = second["window"]
        rows[name] = row
    for name, row in overlay.items():
        kept = {key: value for key, value in row.items() if key != "source"}
        rows[plain_name(name)] = {**rows[plain_name(name)], **kept}
    return rows


def newest(rows: dict[str, Row]) -> dict[str, str]:
    """What an agent means by a family's bare name: its newest model."""
    found: dict[str, str] = {}
    for family in _FAMILIES:
        versions = [
            (tuple(map(int, match.group(1).split("-"))), name)
            for name in rows
            if (match := re.fullmatch(rf"claude-{family}-(\d+(?:-\d{{1,2}})?)", name))
        ]
        if versions:
            found[family] = max(versions)[1]
    return found


def written(rows: dict[str, Row], aliases: dict[str, str], today: str, sources: list[str]) -> str:
    """The table as a file."""
    lines = [
        *_HEADER,
        f'made = "{today}"',
        f"sources = {json.dumps(sources)}",
        "",
        "[models]",
        *(f"{name} = {_inline(row)}" for name, row in sorted(rows.items())),
        "",
        "[aliases]",
        *(f'{name} = "{meant}"' for name, meant in sorted(aliases.items())),
    ]
    return "\n".join(lines) + "\n"


def _inline(row: Row) -> str:
    parts = [f"{key} = {_figure(row[key])}" for key in ("over", "window", *_PRICES) if key in row]
    if row.get("tiers"):
        parts.append(f"tiers = [{', '.join(map(_inline, row['tiers']))}]")
    return f"{{ {', '.join(parts)} }}"


def _figure(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6f}".rstrip("0").ljust(1).removesuffix(".")


def _priced(prices: dict[str, Any]) -> Row:
    """A row from prices that are figures, or figures with tiers."""
    row: Row = {}
    tiers: dict[int, Row] = {}
    for key, price in prices.items():
        if isinstance(price, dict):
            row[key] = price["base"]
            for tier in price["tiers"]:
                tiers.setdefault(tier["start"], {"over": tier["start"]})[key] = tier["price"]
        elif price is not None:
            row[key] = price
    if tiers:
        row["tiers"] = [tiers[over] for over in sorted(tiers)]
    return row


def _current(prices: Any) -> Row:
    """Today's prices: those of the latest starting day, times of day left out."""
    if isinstance(prices, dict):
        return prices
    today = list(datetime.now(UTC).timetuple()[:3])
    dated = [(_since(one), one["prices"]) for one in prices]
    begun = [(since, found) for since, found in dated if since is not None and since <= today]
    return dict(max(begun, key=lambda pair: pair[0])[1])


def _since(priced: Row) -> list[int] | None:
    constraint = priced.get("constraint")
    if constraint is None:
        return []
    return list(constraint["start_date"]) if "start_date" in constraint else None


def _over(told: Row, thousands: int) -> Row:
    tier: Row = {"over": thousands * 1000}
    for field, given in _FIELDS.items():
        price = _million(told.get(f"{given}_above_{thousands}k_tokens"))
        if price is not None and (field in ("input", "output", "cache_read") or told.get(given)):
            tier[field] = price
    return tier


def _step(step: Row) -> Row:
    prices = {field: _million(step.get(given)) for field, given in _FIELDS.items()}
    told = {field: price for field, price in prices.items() if price is not None}
    return {"over": int(step["range"][0]), **told}


def _million(price: Any) -> float | None:
    return None if not isinstance(price, int | float) else round(price * 1_000_000, 6)


def _value(node: ast.AST) -> Any:
    """A literal, or a constructor's named arguments as a table."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_value(key): _value(item) for key, item in zip(keys, values, strict=True) if key}
        case ast.Call(func=ast.Name(id="Decimal"), args=[figure]):
            return float(_value(figure))
        case ast.Call(args=[], keywords=named):
            return {one.arg: _value(one.value) for one in named}
        case ast.Call(args=given):
            return [_value(one) for one in given]
    return None


def _member(wheel: Path, name: str) -> bytes:
    with zipfile.ZipFile(wheel) as opened:
        return opened.read(name)


def _named(genai: Path, litellm: Path) -> tuple[tuple[str, Path], tuple[str, Path]]:
    return ("genai-prices", genai), ("litellm", litellm)


if __name__ == "__main__":
    raise SystemExit(main())
