"""The fitted figures written down as tables that the product ships."""

from __future__ import annotations

from pathlib import Path

import core.response.tables
import core.settings
from bench.fit.impulses import ROWS, TRIAL, AxisFit, Fits, impulse
from bench.fit.outlook import NAMES, StageFit
from bench.fit.runs import Walked

IMPULSES = Path(core.settings.__file__).parent / "fitted.toml"
OUTLOOK = Path(core.response.tables.__file__).parent / "outlook.toml"


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


def write_outlook(fits: dict[str, StageFit], runs: list[Walked], date: str, data: str) -> None:
    """The weights of every stage with their cross-validated scores."""
    lines = [
        "# Weights of the read-out, made by `make fit`; scores are of tasks left out of the fit.",
        "# A count enters as the logarithm of one more than it, its mean taken off.",
        "",
        *about(runs, date, data),
    ]
    for stage, fit in fits.items():
        lines += [
            f'[stage."{stage}"]',
            f"runs = {fit.runs}",
            f"band = {fit.band:.3f}",
            f"auc = {fit.auc:.3f}",
            f"auc_interval = [{fit.low:.3f}, {fit.high:.3f}]",
            f"brier = {fit.brier:.4f}",
            f"brier_of_base_rate = {fit.base_brier:.4f}",
            f"calibration_error = {fit.calibration:.4f}",
            f'[stage."{stage}".counts]',
        ]
        lines += [
            f"{name} = {{ mean = {mean:.4f}, weight = {weight:.4f} }}"
            for name, mean, weight in zip(NAMES, fit.means, fit.weights, strict=True)
        ]
        lines.append("")
        print(
            f"{stage:>4}: {fit.runs} runs, auc {fit.auc:.3f} ({fit.low:.3f} to {fit.high:.3f}), "
            f"calibration {fit.calibration:.3f}"
        )
    OUTLOOK.write_text("\n".join(lines))


def write_impulses(fits: Fits, runs: list[Walked], date: str, data: str) -> None:
    """Impulses under the published half-lives, and with free ones, with their cross-validated scores."""
    lines = [
        "# Impulses of frustration, confidence and flow, made by `make fit`; scores are AUC for unresolved",
        "# of their mean, on tasks left out of the fit.",
        "",
        *about(runs, date, data),
    ]
    for name, axes in (("default", fits.default), ("fitted", fits.free)):
        for axis, fit in axes.items():
            lines += [
                f"[{name}.{axis}]",
                f"half_life = {fit.half_life}",
                f'unit = "{fit.unit}"',
                f"auc = {{ {', '.join(f'{_key(at)} = {score:.3f}' for at, score in fit.auc.items())} }}",
                f"[{name}.{axis}.impulse]",
                *([f"trial_error = {TRIAL}"] if axis == "frustration" else []),
                *(f"{row} = {impulse(axis, row, fit)}" for row in ROWS),
                "",
            ]
            _say(name, axis, fit)
    IMPULSES.write_text("\n".join(lines))


def _key(point: str) -> str:
    return point if point == "end" else f'"{point}"'


def _say(name: str, axis: str, fit: AxisFit) -> None:
    scores = ", ".join(f"{point} {score:.3f}" for point, score in fit.auc.items())
    print(f"{name} {axis}: half-life {fit.half_life:g} {fit.unit}, {scores}")
