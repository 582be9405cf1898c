"""Limits of a person's plan: the window of the model, and the 5-hour and weekly allowance with its pace.

Nothing that takes long to load is imported, so that the status line and `nooscope cost` start fast.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.folders import make_private
from core.store import atomic

if TYPE_CHECKING:
    from core.engine.mind.readings import SleepReading
    from core.report.sums import SummedCost

USUAL = 200_000  # Tokens of the window on plans without the large one.
SIZE = f"{USUAL // 1000}k"
_POINT = 167_000  # Tokens at which Claude Code compacts such a window.
_DAYS_KEPT = 8 * 86_400.0  # Seconds for which samples are of use: a week and a day.
_LARGEST = 512 * 1024  # Bytes of the file beyond which old samples are dropped.
_SAME_WINDOW = 600.0  # Seconds by which two samples of one window may differ in when it resets.
_SHORTEST_PACE = 300.0  # Seconds below which there is no pace yet.
_EVERY = 600.0  # Seconds after which an unchanged sample is kept too, so that a pause slows the pace.
_TAIL = 128 * 1024  # Bytes at the end of a Codex log that are searched for its limits.
_CODEX_LOGS = 8
URGENT = 0.9  # Share of a limit from which on it is a warning.
METHOD = (
    "A session's share is its part of the cost, and of the tokens, of all sessions logged here since the "
    "window began; the range is between the two. Use elsewhere is not seen and is spread over these sessions."
)


def plan_share(tool: str, sleep: SleepReading, reported_window: int = 0) -> float | None:
    """Return how full a window of the usual size would be, or None if the session cannot have one.

    It cannot if the status line reported the window, if the context was ever larger, or if compaction
    was seen and is what is measured against.
    """
    if tool != "claude-code" or reported_window or not sleep.compaction_point > USUAL >= sleep.context_most:
        return None
    return sleep.context_tokens / _POINT if 0 < sleep.context_tokens <= USUAL else None


class LimitSample(NamedTuple):
    """How much of one window was used at one time, as the agent reported it."""

    at: float
    agent: str
    minutes: int  # Length of the window.
    used: float  # Share of one.
    resets_at: float
    session: str = ""  # The session that reported it.


class PlanLimit(NamedTuple):
    """One window of a plan now."""

    agent: str
    minutes: int
    used: float
    resets_at: float
    at: float  # When it was last reported.
    runs_out_at: float | None = None  # When it is used up at the present pace; None if it resets before.

    @property
    def name(self) -> str:
        """The window's length: 5h or 7d."""
        hours = self.minutes // 60
        return f"{hours // 24}d" if hours >= 48 else f"{hours}h"

    @property
    def urgent(self) -> bool:
        """Whether it is nearly used up, or will be before it resets."""
        return self.used >= URGENT or self.runs_out_at is not None

    def words(self, *, brief: bool = False) -> str:
        """The share used, when it resets, and when it runs out at this pace."""
        share = f"{self.name} limit {100 * self.used:.0f}%"
        if brief:
            return f"{share}, out {self._clock(self.runs_out_at)}" if self.runs_out_at else share
        pace = f", runs out {self._clock(self.runs_out_at)} at this pace" if self.runs_out_at else ""
        return f"{share}, resets {self._clock(self.resets_at)}{pace}"

    def _clock(self, at: float) -> str:
        form = "%H:%M" if self.minutes <= 24 * 60 else "%a %H:%M"
        return datetime.fromtimestamp(at).astimezone().strftime(form)


class LimitHistory:
    """Samples of all windows, kept in a file so that a restart loses none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._samples: list[LimitSample] | None = None

    def _load(self) -> list[LimitSample]:
        if self._samples is None:
            try:
                lines = self._path.read_bytes()[-_LARGEST:].split(b"\n")
            except OSError:
                lines = []
            self._samples = [sample for line in lines if (sample := _parse_sample(line)) is not None]
        return self._samples

    def add(self, samples: Iterable[LimitSample]) -> bool:
        """Keep samples that say something new; whether there were any."""
        latest = {(one.agent, one.minutes): one for one in self._load()}
        new: list[LimitSample] = []
        for sample in samples:
            before = latest.get((sample.agent, sample.minutes))
            later = _EVERY if before is not None and sample[3:5] == before[3:5] else 0.0
            if before is None or sample.at > before.at + later:
                latest[sample.agent, sample.minutes] = sample
                new.append(sample)
        if not new:
            return False
        every_sample = [*self._load(), *new]
        self._samples = [one for one in every_sample if one.at > new[-1].at - _DAYS_KEPT]
        try:
            make_private(self._path.parent)
            if self._path.is_file() and self._path.stat().st_size > _LARGEST:
                atomic.replace(self._path, b"".join(map(_sample_line, self._samples)))
            else:
                atomic.append(self._path, b"".join(map(_sample_line, new)))
        except OSError:
            pass  # a full disk costs the history, not the reading
        return True

    def limits(self, now: float, agent: str = "") -> tuple[PlanLimit, ...]:
        """Every window that has not reset since its last sample, the shortest first."""
        windows: dict[tuple[str, int], list[LimitSample]] = {}
        for sample in self._load():
            if not agent or sample.agent == agent:
                windows.setdefault((sample.agent, sample.minutes), []).append(sample)
        current = [_limit(samples) for _, samples in sorted(windows.items())]
        return tuple(one for one in current if one.resets_at > now)


def _limit(samples: Sequence[LimitSample]) -> PlanLimit:
    """The state of one window, with the pace of its last fifth or since it began."""
    last = max(samples, key=lambda one: one.at)
    span = 60.0 * last.minutes
    first = LimitSample(last.resets_at - span, last.agent, last.minutes, 0.0, last.resets_at)
    for sample in samples:
        same = abs(sample.resets_at - last.resets_at) < _SAME_WINDOW
        if same and first.at < sample.at <= last.at - _SHORTEST_PACE and sample.at <= last.at - span / 5:
            first = sample
    elapsed, rise = last.at - first.at, last.used - first.used
    runs_out = None
    if last.used < 1.0 and rise > 0 and elapsed >= _SHORTEST_PACE:
        runs_out = last.at + (1.0 - last.used) * elapsed / rise
    out = runs_out if runs_out is not None and runs_out < last.resets_at else None
    return PlanLimit(last.agent, last.minutes, last.used, last.resets_at, last.at, out)


def _sample_line(sample: LimitSample) -> bytes:
    return json.dumps(list(sample)).encode() + b"\n"


def _parse_sample(line: bytes) -> LimitSample | None:
    try:
        at, agent, minutes, used, resets_at, session = json.loads(line)
        return LimitSample(float(at), str(agent), int(minutes), float(used), float(resets_at), str(session))
    except (ValueError, TypeError):
        return None


class SessionShare(NamedTuple):
    """One session's use of a limit, as shares of the whole limit."""

    session: str
    title: str
    low: float
    high: float


def session_shares(limit: PlanLimit, costs: Iterable[SummedCost]) -> list[SessionShare]:
    """Which sessions used a limit, the largest share first; see `METHOD` for how far to trust it."""
    first = (limit.resets_at - 60.0 * limit.minutes) // 60
    uses: list[tuple[SummedCost, float, int]] = []
    for cost in costs:
        charges = [one for one in cost.charges if first <= one.minute <= limit.at // 60 + 1]
        if cost.agent == limit.agent and cost.dated and charges:
            uses.append((cost, sum(one.dollars for one in charges), sum(one.tokens for one in charges)))
    dollars, tokens = sum(use[1] for use in uses), sum(use[2] for use in uses)
    shares = []
    for cost, cost_dollars, used in uses:
        parts = [part / whole for part, whole in ((cost_dollars, dollars), (used, tokens)) if whole]
        if parts:
            shares.append(SessionShare(cost.session, cost.title, limit.used * min(parts), limit.used * max(parts)))
    return sorted(shares, key=lambda one: -one.high)


def claude_samples(value: Mapping[str, Any], at: float) -> Iterator[LimitSample]:
    """The windows in the input of Claude Code's status line."""
    limits = value.get("rate_limits")
    session = value.get("session_id")
    for name, minutes in (("five_hour", 300), ("seven_day", 10_080)):
        window = limits.get(name) if isinstance(limits, dict) else None
        if isinstance(window, dict):
            yield from _sample(
                at, "claude-code", minutes, window.get("used_percentage"), window.get("resets_at"), session
            )


def codex_samples(line: Mapping[str, Any], session: str = "") -> Iterator[LimitSample]:
    """The windows in one `token_count` line of a Codex log."""
    payload = line.get("payload")
    limits = payload.get("rate_limits") if isinstance(payload, dict) else None
    try:
        at = datetime.fromisoformat(str(line.get("timestamp"))).timestamp()
    except ValueError:
        return
    if not isinstance(limits, dict) or limits.get("limit_id", "codex") not in (None, "codex"):
        return
    for name in ("primary", "secondary"):
        window = limits.get(name)
        if isinstance(window, dict):
            resets = window.get("resets_at")
            left = window.get("resets_in_seconds")
            if resets is None and isinstance(left, int | float):
                resets = at + left
            minutes = window.get("window_minutes")
            yield from _sample(at, "codex", minutes, window.get("used_percent"), resets, session)


def _sample(
    at: float, agent: str, minutes: object, percent: object, resets_at: object, session: object
) -> Iterator[LimitSample]:
    numbers = [one for one in (minutes, percent, resets_at) if isinstance(one, int | float)]
    if len(numbers) == 3 and numbers[0] > 0 and 0 <= numbers[1] <= 1000 and numbers[2] < 1e11:
        name = str(session or "")[:200]
        yield LimitSample(at, agent, int(numbers[0]), round(numbers[1] / 100, 4), float(numbers[2]), name)


def codex_log_samples(environment: Mapping[str, str], home: Path) -> Iterator[LimitSample]:
    """The newest windows in the ends of the Codex logs written last."""
    own = environment.get("CODEX_HOME")
    folder = (Path(own) if own else home / ".codex") / "sessions"
    try:
        days = sorted(folder.glob("*/*/*"), reverse=True)[:_CODEX_LOGS]
        logs = [(log.stat().st_mtime, log) for day in days for log in day.glob("rollout-*.jsonl")]
    except OSError:
        return
    for _, log in sorted(logs)[-_CODEX_LOGS:]:
        try:
            with log.open("rb") as file:
                file.seek(max(0, log.stat().st_size - _TAIL))
                lines = [line for line in file.read(_TAIL).split(b"\n") if b'"rate_limits"' in line]
        except OSError:
            continue
        for line in reversed(lines):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            samples = list(codex_samples(value, log.stem[-36:])) if isinstance(value, dict) else []
            if samples:
                yield from samples
                break


def read_limits(data: Path, environment: Mapping[str, str], home: Path) -> LimitHistory:
    """The history in the person's data folder, with what their Codex logs say now."""
    history = LimitHistory(data / "limits.jsonl")
    history.add(codex_log_samples(environment, home))
    return history
