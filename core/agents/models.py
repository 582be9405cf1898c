"""Models: context windows, prices, and how an answer becomes a turn."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from core.agents.tables import OURS, plain_table, read_table
from core.agents.values import SeenIds
from core.errors import SettingsError
from core.events import MAIN, Turn, Where
from core.settings.program import ContextWindowSettings

_ENDING = re.compile(
    r"(\[[^\]]*\]|-\d{8}|-\d{4}-\d{2}-\d{2}|-\d{2}-\d{2}|-\d{4}|-latest|@[\w.-]+|-v\d+(:\d+)?|:[\w.-]+"
    r"|-(low|medium|high|xhigh|minimal|none|thinking|preview|maas|instruct))$"
)
_LEADING = re.compile(
    r"^(?:[@~]?[\w.-]+[/:])*(?:(?:us|us-gov|eu|apac|global|au|ca|jp|in)\.)?"
    r"(?:(?:anthropic|openai|google|amazon|mistral|minimax|qwen|deepseek|moonshotai|moonshot|zai|xai)\.)?"
)
_FREE = (":free", "-free")  # How routers name what they give away.
_VERSION_FIRST = re.compile(r"^claude-(\d+(?:-\d{1,2})?)-(opus|sonnet|haiku)(?=$|-)")


def paid_name(name: str) -> str:
    """Return the name of a free model without its ending; blank for any other."""
    low = name.strip().lower()
    return next((low.removesuffix(end) for end in _FREE if low.endswith(end)), "")


def plain_name(name: str) -> str:
    """A name in small letters, with dashes for dots and, of a Claude model, the family before the version."""
    return _VERSION_FIRST.sub(r"claude-\2-\1", name.strip().lower().replace(".", "-"))


def spellings(name: str) -> Iterator[str]:
    """Yield the names a model may have in the table: as written, without vendor, then shorter and shorter."""
    name = name.strip().lower()
    while name:
        bare = _LEADING.sub("", name)
        for one in (name, bare):
            if one:
                yield plain_name(one)
        if bare:
            yield f"{plain_name(bare)}-preview"
        shorter = _ENDING.sub("", name)
        if shorter == name:
            return
        name = shorter


_CALL = "<function="
_FENCE = "```"
_LOOKED_AT = 8000  # Characters of one answer that are looked at.


class Tone(NamedTuple):
    """How many different phrases of each kind an answer contains."""

    checking: int = 0
    doubting: int = 0


def _phrases() -> tuple[tuple[str, ...], tuple[str, ...]]:
    table = tomllib.loads((OURS / "lexicon.toml").read_text("utf-8"))["lexicon"]
    return tuple(table["checking"]), tuple(table["doubting"])


CHECKING, DOUBTING = _phrases()
SILENT = Tone()


def joined_words(before: str, more: str) -> str:
    """An answer's words with more of them, as far as they are looked at."""
    return before + more if len(before) < _LOOKED_AT + len(_CALL) else before


def plain_words(text: str) -> str:
    """An agent's words in lowercase between single spaces, code and calls left out."""
    if _CALL in text:
        text = text[: text.index(_CALL)]
    text = text[:_LOOKED_AT]
    if _FENCE in text:
        text = " ".join(text.split(_FENCE)[::2])
    return f" {' '.join(text.lower().split())} "


def _phrase_pattern() -> re.Pattern[str]:
    """Finds at each space the longest phrase that begins there, by its first letter."""
    letters: dict[str, list[str]] = {}
    for phrase in sorted((*CHECKING, *DOUBTING), key=len, reverse=True):
        letters.setdefault(phrase[1], []).append(re.escape(phrase[2:]))
    groups = [f"{re.escape(one)}(?:{'|'.join(rest)})" for one, rest in letters.items()]
    return re.compile(f" (?=({'|'.join(groups)}))")


_find_phrases = _phrase_pattern().findall
# Each phrase with those that it begins with.
_HELD = {
    phrase[1:]: frozenset(one for one in (*CHECKING, *DOUBTING) if phrase.startswith(one))
    for phrase in (*CHECKING, *DOUBTING)
}
_CHECKS = frozenset(CHECKING)


def tone(text: str) -> Tone:
    """Count the phrases of an agent's words."""
    matches = _find_phrases(plain_words(text)) if text else None
    if not matches:
        return SILENT
    phrases = set().union(*[_HELD[one] for one in matches])
    checking = len(phrases & _CHECKS)
    return Tone(checking, len(phrases) - checking)


# US dollars for one web search at the vendor: $10 for 1,000 in the price lists of Anthropic and OpenAI of Sep 2026.
_SEARCH = 0.01
# Models whose vendors bill web searches so; the price of any other is unknown.
_SEARCHING = re.compile(r"(?:^|[/.])(?:claude|gpt|codex|o\d)")
_PRICES = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
_FIELDS = ("window", *_PRICES, "tiers")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Prices(NamedTuple):
    """US dollars for a million tokens; None is unknown."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None  # For five minutes; without such a price, cached tokens cost as much as sent ones.
    cache_write_1h: float | None = None  # Kept for an hour.


_NOTHING = Prices(0.0, 0.0, 0.0, 0.0, 0.0)


class Tier(NamedTuple):
    """Prices of a whole request whose context is above a number of tokens."""

    over: int
    prices: Prices


class Model(NamedTuple):
    """One row of the table; a window of 0 is unknown."""

    window: int = 0  # Tokens that may be sent.
    prices: Prices = Prices()
    tiers: tuple[Tier, ...] = ()  # From the smallest context to the largest.


class _Table(NamedTuple):
    rows: dict[str, Model]
    aliases: dict[str, str]
    made: date | None
    sources: tuple[str, ...]


class Models:
    """Windows and prices by model name."""

    def __init__(self, table: _Table, settings: ContextWindowSettings | None = None) -> None:
        context = settings or ContextWindowSettings()
        self._table = table
        self._found: dict[str, Model] = {}
        self._default = context.default_window
        self._extended = context.extended_window

    @classmethod
    def load(cls, *extra: Path, settings: ContextWindowSettings | None = None) -> Models:
        """Load our table, with the person's own on top."""
        return cls(_merged(extra), settings)

    def __len__(self) -> int:
        return len(self._table.rows)

    @property
    def made_on(self) -> date | None:
        """The day our table was made."""
        return self._table.made

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of our table."""
        return self._table.sources

    def free(self, model: str) -> bool:
        """Whether a model is known to cost nothing."""
        return self._row(model).prices == _NOTHING

    def window(self, model: str, tokens: int = 0) -> int:
        """Return the context window of a model, at least `tokens`."""
        row = self._found.get(model) or self._row(model)
        window = row[0] or self._default
        if tokens > window or "[1m]" in model:
            return max(self._extended, tokens)
        return window

    def cost(
        self,
        model: str,
        input_tokens: int,
        output_tokens: int,
        cache_read: int = 0,
        cache_write: int = 0,
        cache_write_1h: int = 0,
        *,
        several: bool = False,
    ) -> float | None:
        """Return US dollars, or None if a price is unknown.

        `cache_write_1h` is the part of `cache_write` that is kept for an hour. The tokens of `several`
        requests do not show the size of each, so they are priced as small ones.
        """
        _, prices, tiers = self._found.get(model) or self._row(model)
        if tiers and not several:
            context = input_tokens + cache_read + cache_write
            for tier in tiers:
                if context > tier.over:
                    prices = tier.prices
        sending, answering, reading, writing, keeping = prices
        if sending is None or answering is None:
            return None
        total = input_tokens * sending + output_tokens * answering
        if cache_read:
            if reading is None:
                return None
            total += cache_read * reading
        if cache_write:
            long = min(cache_write, cache_write_1h)
            if long:
                if keeping is None:
                    return None
                total += long * keeping
            if cache_write > long:
                total += (cache_write - long) * (sending if writing is None else writing)
        return total / 1_000_000

    def turn(
        self,
        at: float,
        *,
        model: str,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cache_read: int = 0,
        cache_write: int = 0,
        cache_write_1h: int = 0,
        message: str = "",
        agent: str = MAIN,
        where: Where | None = None,
        window: int = 0,
        stop: str = "",
        cost: float | None = None,
        said: str = "",
        said_at: Where | None = None,
        searches: int = 0,
        asked: float | None = None,
        mode: str = "",
    ) -> Turn:
        """Return a turn with its context, window and cost; `window` and `cost` of the log take precedence.

        Without tokens the cost is unknown, not 0. Of the words only the counts of phrases are kept, and their
        place: `said_at`, or the turn's own. `searches` are web searches that the vendor bills by request.
        """
        checking, doubting = tone(said) if said else SILENT
        context = input_tokens + cache_read + cache_write
        if cost is None and context + output_tokens:
            cost = self.cost(model, input_tokens, output_tokens, cache_read, cache_write, cache_write_1h)
            if searches and cost is not None:
                cost = cost + searches * _SEARCH if _SEARCHING.search(model) else None
        return Turn(
            at=at,
            agent=agent,
            where=where,
            id=message,
            model=model,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cache_read=cache_read,
            cache_write=cache_write,
            context_tokens=context,
            context_window=window or self.window(model, context),
            cost=cost,
            stop=stop,
            asked=asked,
            mode=mode,
            checking=checking,
            doubting=doubting,
            said=(said_at or where) if said and not said.isspace() else None,
        )

    def _row(self, model: str) -> Model:
        row = self._found.get(model)
        if row is None:
            if len(self._found) > 1000:
                self._found.clear()
            table = self._table
            row = _search(model, table.rows, table.aliases) or Model()
            if (paid := paid_name(model)) and plain_name(model) not in table.rows:
                row = (_search(paid, table.rows, table.aliases) or row)._replace(prices=_NOTHING, tiers=())
            self._found[model] = row
        return row


def _search(model: str, rows: Mapping[str, Model], aliases: Mapping[str, str]) -> Model | None:
    candidates = (rows.get(name) or rows.get(aliases.get(name, "")) for name in spellings(model))
    return next((row for row in candidates if row is not None), None)


def _merged(extra: tuple[Path, ...]) -> _Table:
    """Return our table, read once per process, with the person's own on top."""
    ours = _our_table()
    if not extra:
        return ours
    merged = ours._replace(rows=dict(ours.rows), aliases=dict(ours.aliases))
    for path in extra:
        _lay_over(merged, path, read_table(path), theirs=True)
    return merged


@cache
def _our_table() -> _Table:
    path = OURS / "models.toml"
    content = plain_table(path.read_text("utf-8"))
    table = _Table({}, {}, *_table_date(path, content))
    _lay_over(table, path, content, theirs=False)
    return table


def _lay_over(table: _Table, path: Path, content: dict[str, Any], *, theirs: bool) -> None:
    rows, aliases = table.rows, table.aliases
    for key in content:
        if key not in ("models", "aliases", "made", "sources"):
            raise SettingsError(f"{path}: {key}: unknown; expected [models] or [aliases]")
    for name, row in _section(path, content, "models").items():
        base = _search(name, rows, aliases) or Model()
        rows[plain_name(name)] = _checked_model(path, name, row, base)
    for name, target in _section(path, content, "aliases").items():
        if not isinstance(target, str) or _search(target, rows, {}) is None:
            raise SettingsError(f"{path}: aliases.{name}: must be the name of a model in [models]")
        aliases[plain_name(name)] = next(one for one in spellings(target) if one in rows)
        if theirs:
            rows.pop(plain_name(name), None)


def _section(path: Path, table: dict[str, Any], name: str) -> dict[str, Any]:
    listed = table.get(name, {})
    if not isinstance(listed, dict):
        raise SettingsError(f"{path}: {name}: must be a table")
    return listed


def _table_date(path: Path, table: dict[str, Any]) -> tuple[date | None, tuple[str, ...]]:
    made_on = table.get("made", "")
    if not isinstance(made_on, str) or not _DAY.fullmatch(made_on):
        raise SettingsError(f"{path}: made: must be a day such as 2026-01-31")
    return date.fromisoformat(made_on), tuple(map(str, table.get("sources", ())))


def _checked_model(path: Path, name: str, row: Any, base: Model) -> Model:
    place = f"{path}: models.{name}"
    if not isinstance(row, dict):
        raise SettingsError(f"{place}: must be a table")
    for field in row:
        if field not in _FIELDS:
            raise SettingsError(f"{place}.{field}: unknown; expected one of {', '.join(_FIELDS)}")
    window = int(_number(f"{place}.window", row["window"])) if "window" in row else base.window
    own_prices = {field: _number(f"{place}.{field}", row[field]) for field in _PRICES if field in row}
    prices = base.prices._replace(**own_prices)
    tiers = () if own_prices else base.tiers
    if "tiers" in row:
        tiers = _tiers(f"{place}.tiers", row["tiers"], prices)
    return Model(window, prices, tiers)


def _tiers(place: str, value: Any, base: Prices) -> tuple[Tier, ...]:
    if not isinstance(value, list) or not all(isinstance(tier, dict) and "over" in tier for tier in value):
        raise SettingsError(f"{place}: must be a list of tables with `over` and prices")
    tiers: list[Tier] = []
    for tier in value:
        for field in tier:
            if field not in ("over", *_PRICES):
                expected = ", ".join(("over", *_PRICES))
                raise SettingsError(f"{place}.{field}: unknown; expected one of {expected}")
        figures = {field: _number(f"{place}.{field}", figure) for field, figure in tier.items()}
        over = int(figures.pop("over"))
        tiers.append(Tier(over, base._replace(**figures)))
    return tuple(sorted(tiers, key=lambda tier: tier.over))


def _number(place: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise SettingsError(f"{place}: must be a number of at least 0")
    return float(value)


ENDED = "end_turn"  # The stop reason of a turn that the agent ended.
CALLING = "tool_use"  # The stop reason of an answer that calls tools and continues after their results.
GOAL_FAILED = "goal_failed"  # The stop reason with which the agent's own check ends a turn whose goal failed.
WORDLESS = "wordless"  # The stop reason of an answer without words: only thoughts or calls, with more to come.


class Usage:
    """Keeps the newest usage of each agent's open message, and returns one turn per message.

    Logs repeat a message's usage, or write it growing, on every line of the message.
    """

    def __init__(self, models: Models) -> None:
        self._models = models
        self._open: dict[str, Turn] = {}
        self._closed = SeenIds()
        self._wide: dict[tuple[str, str], int] = {}

    def update(self, turn: Turn) -> Turn | None:
        """Update an agent's open message, and return the turn of the one before if this is another."""
        if turn.id and turn.id in self._closed:
            return None
        agent = turn.agent
        before = self._open.get(agent)
        self._open[agent] = turn
        if before is not None and (before.id != turn.id or not turn.id):
            return self._close(before)
        return None

    def close(self, agent: str) -> Turn | None:
        """Close an agent's open message and return its turn."""
        turn = self._open.pop(agent, None)
        return None if turn is None else self._close(turn)

    def deduplicate(self, turn: Turn) -> Turn | None:
        """Return the turn of a message the first time; None if it was returned before."""
        return None if turn.id and turn.id in self._closed else self._close(turn)

    def finish(self) -> list[Turn]:
        """Return the turns of all open messages, which stay open."""
        return [self._widened(turn) for turn in self._open.values()]

    def close_all(self) -> list[Turn]:
        """Close all open messages and return their turns."""
        return [self._close(self._open.pop(agent)) for agent in list(self._open)]

    def preview(self, turn: Turn) -> Turn | None:
        """Return what `deduplicate` would, without remembering it."""
        return None if turn.id and turn.id in self._closed else self._widened(turn)

    def _close(self, turn: Turn) -> Turn:
        """Close a turn; a window once wider than its model's usual one stays wide."""
        if turn.id:
            self._closed.add(turn.id)
        window = turn.context_window
        if window > self._models.window(turn.model):
            key = (turn.agent, turn.model)
            self._wide[key] = max(window, self._wide.get(key, 0))
        return self._widened(turn) if self._wide else turn

    def _widened(self, turn: Turn) -> Turn:
        widest = self._wide.get((turn.agent, turn.model)) if self._wide else None
        if widest is None or turn.context_window != self._models.window(turn.model):
            return turn
        return replace(turn, context_window=widest)


def retried_turn(at: float, agent: str, where: Where) -> Turn:
    """Return the turn of a failed request that is retried: the agent works and has not answered."""
    return Turn(at=at, agent=agent, where=where, cost=0.0, stop="retry")


def failed_turn(at: float, agent: str, where: Where, name: str = "") -> Turn:
    """Return a turn that an error ended before the model answered; the error's text is at the place."""
    return Turn(at=at, agent=agent, where=where, id=name, cost=0.0, stop="error")
