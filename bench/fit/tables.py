"""The fitted figures written down as tables that the product ships."""

from __future__ import annotations

from pathlib import Path

import core.agents.tables
import core.engine.response.tables
import core.settings
from bench.fit.felt import FeltFit
from bench.fit.impulses import AXES, IMPLEMENTATION, ROWS, TRIAL, AxisFit, every_event, impulse
from bench.fit.outlook import OutlookFit
from bench.fit.phrases import POOL
from bench.fit.runs import Walked

IMPULSES = Path(core.settings.__file__).parent / "fitted.toml"
LEXICON = Path(core.agents.tables.__file__).parent / "lexicon.toml"
OUTLOOK = Path(core.engine.response.tables.__file__).parent / "outlook.toml"


def about(runs: list[Walked], date: str, data: str) -> list[str]:
    """What a table was fitted on."""
    return [
        "[about]",
        f'date = "{date}"',
        f'data = "{data}"',
        f"runs = {len(runs)}",
        f"models = {len({run.model for run in runs})}",
        f"tasks = {len({run.task for run in runs})}",
        "",
    ]


def write_outlook(fit: OutlookFit, runs: list[Walked], date: str, data: str) -> None:
    """The weights of every stage with their cross-validated scores."""
    lines = [
        "# Weights of the read-out, made by `make fit`; scores are of tasks left out of the fit and of the",
        "# choice of phrases. A count enters as the logarithm of one more than it, its mean taken off.",
        "",
        *about(runs, date, data),
    ]
    for stage, one in fit.stages.items():
        lines += [
            f'[stage."{stage}"]',
            f"runs = {one.runs}",
            f"band = {one.band:.3f}",
            f"auc = {one.auc:.3f}",
            f"auc_interval = [{one.low:.3f}, {one.high:.3f}]",
            f"auc_of_counts_alone = {one.auc_of_counts:.3f}",
            f"brier = {one.brier:.4f}",
            f"brier_of_base_rate = {one.base_brier:.4f}",
            f"calibration_error = {one.calibration:.4f}",
            f'[stage."{stage}".counts]',
        ]
        lines += [
            f"{name} = {{ mean = {mean:.4f}, weight = {weight:.4f} }}"
            for name, mean, weight in zip(one.names, one.means, one.weights, strict=True)
        ]
        lines.append("")
        print(
            f"{stage:>4}: {one.runs} runs, auc {one.auc:.3f} ({one.low:.3f} to {one.high:.3f}), "
            f"counts alone {one.auc_of_counts:.3f}, calibration {one.calibration:.3f}"
        )
    OUTLOOK.write_text("\n".join(lines))


def write_lexicon(fit: OutlookFit, runs: list[Walked], date: str, data: str) -> None:
    """The phrases chosen on all runs."""
    lines = [
        "# Phrases an agent says, made by `make fit`; an event carries two counts and none of the words.",
        "# Each is looked for in lowercase text between single spaces, code left out. Where an agent",
        "# says one kind more often than usual for it, runs ended well (checking) or badly (doubting)",
        "# more often than usual, in most agents.",
        "",
        *about(runs, date, data),
        "[lexicon]",
    ]
    for kind, places in fit.phrases._asdict().items():
        lines += [f"{kind} = [", *(f'    "{POOL[place]}",' for place in places), "]"]
        print(f"{kind}: {', '.join(POOL[place].strip() for place in places)}")
    LEXICON.write_text("\n".join([*lines, ""]))


def write_impulses(
    default: dict[str, FeltFit], free: AxisFit, runs: list[Walked], date: str, data: str
) -> None:
    """Impulses under the published half-lives, and with free ones, with their cross-validated scores."""
    lines = [
        "# Impulses of frustration, confidence and flow, made by `make fit`; scores are AUC of their mean",
        "# on tasks left out of the fit, for unresolved with frustration, for resolved with the others.",
        "",
        *about(runs, date, data),
    ]
    for axis, felt in default.items():
        lines += _head("default", axis, felt.half_life, "seconds", felt.auc)
        foreign = "implementation" if axis == "frustration" else "trial_error"
        lines += [f"{row} = {amount}" for row, amount in felt.impulses.items() if row != foreign]
        lines.append("")
    for axis in AXES:
        lines += _head("fitted", axis, free.half_life, free.unit, free.auc)
        lines += [
            f"trial_error = {TRIAL}" if axis == "frustration" else f"implementation = {IMPLEMENTATION}",
            *(f"{row} = {impulse(axis, row, free)}" for row in ROWS if row != "every_event"),
            f"every_event = {every_event(axis, free)}",
            "",
        ]
    IMPULSES.write_text("\n".join(lines))


def _head(profile: str, axis: str, half_life: float, unit: str, auc: dict[str, float]) -> list[str]:
    scores = ", ".join(f"{point} {score:.3f}" for point, score in auc.items())
    print(f"{profile} {axis}: half-life {half_life:g} {unit}, {scores}")
    return [
        f"[{profile}.{axis}]",
        f"half_life = {half_life}",
        f'unit = "{unit}"',
        f"auc = {{ {', '.join(f'{_key(at)} = {score:.3f}' for at, score in auc.items())} }}",
        f"[{profile}.{axis}.impulse]",
    ]


def _key(point: str) -> str:
    return point if point == "end" else f'"{point}"'
