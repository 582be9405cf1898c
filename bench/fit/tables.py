"""The fitted figures written down as tables that the product ships."""

from __future__ import annotations

from pathlib import Path

import core.agents.tables
import core.engine.response.tables
from bench.fit.outlook import OutlookFit
from bench.fit.phrases import POOL
from bench.fit.runs import Walked

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
        "# choice of phrases. A count enters as the logarithm of one more than it, phrases as their number to",
        "# the power 0.7, with its mean taken off; of a run of more than 20 actions, as many as in 20 of them.",
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
        "# Each is looked for in lowercase text between single spaces, code left out. Those of checking",
        "# were named beforehand; where an agent says those of doubt more often than usual for it, runs",
        "# ended badly more often than usual, in most agents.",
        "",
        *about(runs, date, data),
        "[lexicon]",
    ]
    for kind, places in fit.phrases._asdict().items():
        lines += [f"{kind} = [", *(f'    "{POOL[place]}",' for place in places), "]"]
        print(f"{kind}: {', '.join(POOL[place].strip() for place in places)}")
    LEXICON.write_text("\n".join([*lines, ""]))
