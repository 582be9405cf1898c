"""Limits of a person's plan: the window of the model, and the 5-hour and weekly allowance with its pace.

Nothing that takes long to load is imported, so that the status line and `nooscope cost` start fast.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.folders import make_private
from core.store import atomic

if TYPE_CHECKING:
    from core.engine.mind.readings import SleepReading
    from core.report.sums import SummedCharge

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
ELSEWHERE = "elsewhere: not in any log here"
_STRETCHES = 30  # Stretches into which a window is divided at most.
_HALF_PERCENT = 0.005  # By how much a sample in whole percent may be rounded; one in tenths by a tenth of it.
METHOD = (
    "Each rise of a limit between two samples is divided among the sessions that worked in between, by cost and by "
    "tokens; the range covers both, the rounding of the samples, and use elsewhere at the pace seen while no session "
    "here worked."
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
    samples: tuple[tuple[float, float], ...] = ()  # Some of this window: when, and the share used then.

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
        with suppress(OSError):  # a full disk costs the history, not the reading
            make_private(self._path.parent)
            if self._path.is_file() and self._path.stat().st_size > _LARGEST:
                atomic.replace(self._path, b"".join(map(_sample_line, self._samples)))
            else:
                atomic.append(self._path, b"".join(map(_sample_line, new)))
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
    window = [one for one in samples if abs(one.resets_at - last.resets_at) < _SAME_WINDOW and one.at <= last.at]
    begun = LimitSample(last.resets_at - span, last.agent, last.minutes, 0.0, last.resets_at)
    early = [one for one in window if one.at <= last.at - max(_SHORTEST_PACE, span / 5)]
    first = max([begun, *early], key=lambda one: one.at)
    elapsed, rise = last.at - first.at, last.used - first.used
    has_pace = last.used < 1.0 and rise > 0 and elapsed >= _SHORTEST_PACE
    runs_out = last.at + (1.0 - last.used) * elapsed / rise if has_pace else math.inf
    out = runs_out if runs_out < last.resets_at else None
    spread = {one.at * _STRETCHES // span: (one.at, one.used) for one in sorted(window)}
    return PlanLimit(last.agent, last.minutes, last.used, last.resets_at, last.at, out, tuple(spread.values()))


def _sample_line(sample: LimitSample) -> bytes:
    return json.dumps(list(sample)).encode() + b"\n"


def _parse_sample(line: bytes) -> LimitSample | None:
    try:
        at, agent, minutes, used, resets_at, session = json.loads(line)
        return LimitSample(float(at), str(agent), int(minutes), float(used), float(resets_at), str(session))
    except (ValueError, TypeError):
        return None


class LimitShare(NamedTuple):
    """The share of a limit that one session used, as a range."""

    low: float
    high: float

    def words(self) -> str:
        """The range in percent."""
        low, high = f"{100 * self.low:.0f}", f"{100 * self.high:.0f}"
        return f"{low}%" if low == high else f"{low} to {high}%"


class _Stretch(NamedTuple):
    """The time between two samples of a limit."""

    seconds: float
    rise: float
    parts: Mapping[str, tuple[float, float]]  # By session: its smaller and larger part, by cost and by tokens.


def limit_shares(limit: PlanLimit, charges: Mapping[str, Iterable[SummedCharge]]) -> dict[str, LimitShare]:
    """Return the share of a limit that each session used, the largest first; see `METHOD`."""
    stretches = list(_stretches(limit, charges))
    quiet = [one for one in stretches if ELSEWHERE in one.parts]
    quiet_seconds = sum(one.seconds for one in quiet)
    pace = sum(one.rise for one in quiet) / quiet_seconds if quiet_seconds > 0 else 0.0
    unseen = [0.0 if ELSEWHERE in one.parts else min(one.rise, pace * one.seconds) for one in stretches]
    whole = all(abs(used - round(used, 2)) < 1e-9 for _, used in limit.samples)
    shares = {}
    for key in dict.fromkeys(key for one in stretches for key in one.parts):
        parts = [one.parts.get(key, (0.0, 0.0)) for one in stretches]
        low = sum(part * (one.rise - away) for (part, _), one, away in zip(parts, stretches, unseen, strict=True))
        high = sum(part * one.rise for (_, part), one in zip(parts, stretches, strict=True))
        # A sample lies between two stretches, so its rounding matters as far as the parts in them differ.
        changes = sum(abs(before[1] - after[1]) for before, after in pairwise([*parts, (0.0, 0.0)]))
        error = changes * (_HALF_PERCENT if whole else _HALF_PERCENT / 10)
        high += error + (sum(unseen) if key == ELSEWHERE else 0.0)
        shares[key] = LimitShare(max(0.0, low - error), min(1.0, high))
    return dict(sorted(shares.items(), key=lambda one: -one[1].high))


def _stretches(limit: PlanLimit, charges: Mapping[str, Iterable[SummedCharge]]) -> Iterator[_Stretch]:
    """The stretches of a window up to its last sample."""
    samples = limit.samples or ((limit.at, limit.used),)
    begin = limit.resets_at - 60.0 * limit.minutes
    ends = [int(at // 60) for at, _ in samples]
    work: list[dict[str, tuple[float, int]]] = [{} for _ in ends]
    for key, session_charges in charges.items():
        for one in session_charges:
            if begin // 60 <= one.minute <= ends[-1]:
                stretch = work[bisect_left(ends, one.minute)]
                dollars, tokens = stretch.get(key, (0.0, 0))
                stretch[key] = dollars + one.dollars, tokens + one.tokens
    for uses, (first, last) in zip(work, pairwise([(begin, 0.0), *samples]), strict=True):
        totals = sum(dollars for dollars, _ in uses.values()), sum(tokens for _, tokens in uses.values())
        parts = {}
        for key, use in uses.items():
            both = [part / total for part, total in zip(use, totals, strict=True) if total]
            parts[key] = (min(both), max(both)) if both else (0.0, 0.0)
        yield _Stretch(
            last[0] - first[0], max(0.0, last[1] - first[1]), parts if any(totals) else {ELSEWHERE: (1.0, 1.0)}
        )


def claude_samples(value: Mapping[str, Any], at: float) -> Iterator[LimitSample]:
    """The windows in the input of Claude Code's status line."""
    limits = value.get("rate_limits")
    session = value.get("session_id")
    for name, minutes in (("five_hour", 300), ("seven_day", 10_080)):
        window = limits.get(name) if isinstance(limits, dict) else None
        if isinstance(window, dict):
            used, resets = window.get("used_percentage"), window.get("resets_at")
            yield from _sample(at, "claude-code", minutes, used, resets, session)


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
