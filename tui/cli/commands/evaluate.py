"""`nooscope tune evaluate`: what readings and alarms are worth on runs with a known outcome."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.cli import options, streams

if TYPE_CHECKING:
    from core.settings import Settings
    from core.timeline.evaluation import Missed, RunSource, Walk

_CHUNK = 40  # Runs handed to a process at once.
_SHOWN = (
    *("frustration", "seeking", "confidence", "fatigue", "flow", "uncertainty", "forecast"),
    *("failures_recent", "same_error", "stale_recent", "since_good_edit", "edits_since_pass"),
    *("looks_before_edit", "runs_since_change", "words_of_checking", "words_of_doubt"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="RUNS",
        help="JSON lines with resolved, model, task and messages or traj (gzip or not), "
        "a folder of logs with a labels.jsonl, or JSON lines of turn endings with text and label; "
        "without any: check whether your own labels (good or bad) help",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--profile", metavar="NAME", help="a profile that comes with nooscope, such as codex")
    options.add_jobs_option(parser, "processes")
    options.add_settings_options(parser)


def run(args: argparse.Namespace) -> int:
    from core.errors import UnreadableLog
    from core.report.formatting import plain, readable_json
    from core.timeline.evaluation import Walk, evaluate, sources

    if not args.paths:
        return _run_own(args.json)
    endings = _labelled_endings([Path(path) for path in args.paths])
    if endings:
        from core.report.turn_endings import evaluate_endings

        judged = evaluate_endings(endings)
        print(readable_json(judged) if args.json else "\n".join(endings_report(judged)))
        return 0
    settings = _modelled(options.settings_from(args).settings, args.profile)
    runs = list(sources([Path(path) for path in args.paths]))
    done = list(_walked(runs, settings, args.jobs))
    walks = [one for one in done if isinstance(one, Walk)]
    missed = [one.reason for one in done if not isinstance(one, Walk)]
    streams.say(*map(plain, missed[:10]))
    if len(missed) > 10:
        streams.say(f"and {len(missed) - 10} more")
    if not walks:
        raise UnreadableLog("no labelled run could be read")
    result = evaluate(walks)
    if args.json:
        print(readable_json(result))
    else:
        print("\n".join(_report(result)))
    return 0


def _run_own(as_json: bool) -> int:
    """Print by leave-one-out whether the person's own labels help."""
    from core.folders import learned_settings_file
    from core.report.formatting import readable_json
    from core.timeline.own_labels import learn_all

    notices: list[str] = []
    learned = learn_all(notices)
    streams.say(*notices)
    if as_json:
        print(readable_json({"lessons": [lesson._asdict() for lesson in learned.lessons], "settings": learned.values}))
        return 0
    for lesson in learned.lessons:
        print(lesson.sentence)
    if learned.values:
        print(f"settings that follow from your labels: {learned_settings_file()}")
    else:
        print("label sessions with `nooscope tune labels LOG good` (or bad), or with g on the screen")
    return 0


def _labelled_endings(paths: list[Path]) -> list[dict[str, Any]]:
    """Return the rows of labelled turn endings; empty if any file has something else."""
    from core.report.formatting import plain

    rows: list[dict[str, Any]] = []
    faults: list[str] = []
    for path in paths:
        if path.suffix != ".jsonl" or not path.is_file():
            return []
        with path.open(encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    faults.append(f"{path}:{number} is not JSON and was skipped")
                    continue
                if not isinstance(row, dict) or not {"text", "label"} <= row.keys():
                    return []
                rows.append(row)
    streams.say(*map(plain, faults[:10] if rows else ()))
    return rows


def endings_report(judged: dict[str, Any]) -> Iterator[str]:
    """Tables in Markdown: what each label was judged to be, then how many questions and offers are found."""
    from core.report.turn_endings import ENDINGS

    columns = [one for one in ENDINGS if any(row.get(one) for row in judged["labels"].values())]
    yield f"| label | {' | '.join(columns)} |"
    yield "|---|" + "---|" * len(columns)
    for label, row in judged["labels"].items():
        yield f"| {label} | {' | '.join(str(row.get(one, 0)) for one in columns)} |"
    yield ""
    yield "| questions and offers | endings | precision | recall | asks | asks found |"
    yield "|---|---|---|---|---|---|"
    for name, row in judged["groups"].items():
        shares = " | ".join(_figure(row[one]) for one in ("precision", "recall"))
        yield f"| {name} | {row['endings']} | {shares} | {row['asks']} | {_figure(row['asks_recall'])} |"


def _modelled(settings: Settings, name: str | None) -> Settings:
    """Return the settings with a profile applied."""
    if name is None:
        return settings
    from core.errors import NooscopeError
    from core.settings.layers import with_value
    from core.store.profiles import PRESETS, profile_changes, read_profiles

    profiles = {profile.name: profile for profile in read_profiles([("built-in", PRESETS)])}
    if name not in profiles:
        raise NooscopeError(f"--profile {name}: no such profile; available: {', '.join(sorted(profiles))}")
    for setting, value in profile_changes(profiles[name], settings).items():
        settings = with_value(settings, setting, value)
    return settings


def _walked(runs: list[RunSource], settings: Settings, jobs_wanted: int | None) -> Iterator[Walk | Missed]:
    from core.timeline.evaluation import walk_all

    chunks = [runs[start : start + _CHUNK] for start in range(0, len(runs), _CHUNK)]
    jobs = min(jobs_wanted or os.cpu_count() or 1, len(chunks))
    if jobs <= 1:
        parts: Iterator[list[Walk | Missed]] = (walk_all(chunk, settings) for chunk in chunks)
    else:
        from core.report.process_pool import shared_out

        parts = shared_out(jobs, walk_all, chunks, settings, prepare=streams.prepare_streams)
    number = 0
    for part in parts:
        number += len(part)
        streams.progress(f"{number} of {len(runs)} runs")
        yield from part
    streams.progress("")


def _report(result: dict[str, Any]) -> Iterator[str]:
    """Print AUC for unresolved within each model, then alarms, then calibration."""
    from core.report.formatting import count
    from core.timeline.evaluation import POINTS

    yield f"{count(result['runs'], 'run')} of {count(result['models'], 'model')}"
    yield ""
    yield f"{'AUC for unresolved, within model':34}" + "".join(f"{point:>8}" for point in POINTS)
    for name in _SHOWN:
        row = result["auc"].get(name, {})
        yield f"{name:34}" + "".join(f"{_figure(row.get(point)):>8}" for point in POINTS)
        if name == "forecast":
            scores = [result["forecast_on_tasks_left_out"].get(point, [None])[0] for point in POINTS]
            yield f"{'  on tasks left out of its fit':34}" + "".join(f"{_figure(score):>8}" for score in scores)
    yield ""
    yield from _alarm_rows("alarm", result["alarms"])
    for runs, groups in result["loops_on_groups_left_out"].items():
        for group, (good, gain, recall) in groups.items():
            name = f"loop, {group} of {runs} left out of the choice of its limits"
            yield f"{name}: good {good:.3f}, gain {gain:+.3f}, recall {recall:.3f}"
    yield ""
    yield from _alarm_rows("of able models", result["alarms_of_able_models"])
    yield ""
    calls = result["calibration"]["next_call"]
    yield f"next call fails: {calls['calls']} calls, Brier {_figure(calls['brier'])}"
    yield "  said " + " ".join(_figure(row["said"]) for row in calls["tenths"])
    yield "  was  " + " ".join(_figure(row["was"]) for row in calls["tenths"])
    for point, row in result["calibration"]["forecast"].items():
        brier = f"Brier {row['brier']:.3f} (base rate alone {row['brier_of_base_rate']:.3f})"
        yield f"forecast at {point}: {brier}, calibration error {row['error']:.3f}"


def _alarm_rows(title: str, alarms: dict[str, Any]) -> Iterator[str]:
    from core.report.formatting import plain

    yield f"{title:20}{'runs':>6}{'precision':>11}{'base':>8}{'good':>8}{'recall':>8}{'action':>8}"
    for name, row in alarms.items():
        yield (
            f"{plain(name):20}{row['runs']:>6}{_figure(row['precision']):>11}{_figure(row['base']):>8}"
            f"{_figure(row['good_alarmed']):>8}{_figure(row['recall']):>8}{row['median_action'] or '-':>8}"
        )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
