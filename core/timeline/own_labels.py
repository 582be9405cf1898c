"""Learning from a person's labels: weights of the outlook, and limits of the loop detectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.agents.registry import make_kit
from core.engine.receptor.facts import ActionFacts
from core.engine.receptor.receptor import EFFECTIVE
from core.engine.response.loops import DETECTORS, LoopDetector
from core.engine.response.outlook import STAGES, USUAL, scaled, stage_fit
from core.errors import StoreError
from core.events import MAIN, Event, Prompt, ToolUse, Turn
from core.folders import learned_settings_file
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from core.settings.response import DetectorName, LoopSettings
from core.store import atomic
from core.store.bookmarks import Labels, SessionLabel, all_labels
from core.store.profiles import profile_text

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FEWEST = 8  # Labels of either kind that are needed.
HOLD = 30.0  # The ridge that holds weights at the shipped ones; chosen on labelled runs of agents left out.
SURE = 2.0  # Standard errors by which the loss on sessions left out has to fall.
LEAST = 0.005  # The smallest mean fall of the loss that counts.
# An alarm in a share of the good sessions costs as much as missing so many times that share of the bad ones.
FALSE_ALARM = 5.0
HOLD_LIMIT = 3.0  # What doubling or halving a limit costs, in sessions.
_HIGHEST = 128  # The highest limit that is tried.
_STEPS = 12
_NO_RIDGE = 0.5  # On the intercept.
_FIELDS = {name: "flips" if name == "oscillation" else "times" for name in DETECTORS}
_STAGE_WORDS = {stage: f"outlook after {least} actions" for least, stage in reversed(STAGES)} | {
    "end": "outlook at the end"
}


class Lesson(NamedTuple):
    """The labels' evidence about one part of the model."""

    part: str
    good: int
    bad: int
    shipped: float | None = None  # The loss of the shipped figures on sessions left out; None with too few labels.
    own: float | None = None  # The loss of figures that were learned without the session.
    helps: bool = False

    @property
    def sentence(self) -> str:
        """Say whether the labels help."""
        if self.own is None or self.shipped is None:
            return f"{self.part}: too few labels ({self.good} good, {self.bad} bad; {FEWEST} of each are needed)"
        figures = f"loss on sessions left out {self.own:.3f}, shipped {self.shipped:.3f}"
        verdict = "your labels help, in use" if self.helps else "your labels do not help yet, the shipped ones are used"
        return f"{self.part}: {verdict} ({figures})"


class Learned(NamedTuple):
    """All lessons, and the settings that follow from them."""

    lessons: tuple[Lesson, ...]
    values: dict[str, Any]

    @property
    def summary(self) -> str:
        """How many labels there are, and whether they help, in one line."""
        last = self.lessons[-1]
        helped = ", ".join(lesson.part for lesson in self.lessons if lesson.helps)
        if helped:
            use = f"they help with {helped} from the next start on"
        elif min(last.good, last.bad) < FEWEST:
            use = f"too few to learn from, {FEWEST} of each are needed"
        else:
            use = "they do not help yet"
        return f"your labels are {last.good} good, {last.bad} bad; {use}"


def label_session(events: Iterable[Event], good: bool, created: float) -> SessionLabel:
    """Label a session, with the counts of its main agent at every stage and the limits it reaches."""
    own = [event for event in events if event.agent == MAIN]
    facts = ActionFacts(Settings().receptor.facts)
    counts: dict[str, dict[str, int]] = {}
    points = dict(STAGES)
    for event in own:
        if isinstance(event, Turn):
            facts.add_phrases(event)
        elif isinstance(event, Prompt):
            facts.add_prompt(event)
        elif isinstance(event, ToolUse) and event.outcome in EFFECTIVE and event.action != "plan":
            if facts.actions in points:
                counts[points[facts.actions]] = _counts(facts, points[facts.actions])
            facts.update(event)
    if facts.actions:
        counts["end"] = _counts(facts, "end")
    return SessionLabel(good, created, counts, {name: _reach(own, name) for name in DETECTORS})


def events_at(path: Path, session: str, settings: Settings) -> Iterator[Event]:
    """Read the events of one session of a log."""
    kit = make_kit(settings.ingest)
    chosen = [one for one in sessions([path], kit, settings.ingest.lines) if one.id == session]
    yield from read_session(chosen[0], kit) if chosen else ()


def _counts(facts: ActionFacts, stage: str) -> dict[str, int]:
    names = (*stage_fit(stage, Settings().response.outlook).names, "names_asked")
    return {name: getattr(facts, name) for name in names}


def _reach(events: Sequence[Event], name: DetectorName) -> int:
    """Return the highest limit at which a detector fires by itself; 1 if it never does."""
    loops = LoopSettings()
    parts: dict[str, Any] = {other: getattr(loops, other).replace(enabled=other == name) for other in DETECTORS}
    low, high = 1, _HIGHEST
    while low < high:
        limit = (low + high + 1) // 2
        part = parts[name].replace(**{_FIELDS[name]: limit})
        detector = LoopDetector(loops.replace(**{**parts, name: part}))
        if any(detector.update(event) is not None for event in events):
            low = limit
        else:
            high = limit - 1
    return low


def learn(labels: Sequence[SessionLabel]) -> Learned:
    """Adapt what predicts sessions left out better; everything else stays as shipped.

    A change is used only if it predicts sessions left out better than the shipped figures do.
    """
    lessons: list[Lesson] = []
    weights: dict[str, dict[str, float]] = {}
    for stage, part in _STAGE_WORDS.items():
        rows = [label for label in labels if stage in label.counts]
        lesson, changes = _learn_stage(stage, _start(part, rows), rows)
        lessons.append(lesson)
        if changes:
            weights[stage] = changes
    lesson, values = _learn_limits(_start("loop alarm", labels), labels)
    if weights:
        values["response.outlook.weights"] = weights
        values["response.outlook.base_rate"] = round((lesson.bad + 1) / (len(labels) + 2), 2)
    return Learned((*lessons, lesson), values)


def _start(part: str, labels: Sequence[SessionLabel]) -> Lesson:
    good = sum(label.good for label in labels)
    return Lesson(part, good, len(labels) - good)


def _compare(lesson: Lesson, losses: Floats) -> Lesson:
    """Judge losses on sessions left out, by the shipped figures and by learned ones."""
    gains = losses[:, 0] - losses[:, 1]
    helps = gains.mean() > max(LEAST, SURE * float(gains.std()) / np.sqrt(len(gains)))
    return lesson._replace(shipped=float(losses[:, 0].mean()), own=float(losses[:, 1].mean()), helps=bool(helps))


def _learn_stage(stage: str, lesson: Lesson, labels: Sequence[SessionLabel]) -> tuple[Lesson, dict[str, float]]:
    if min(lesson.good, lesson.bad) < FEWEST:
        return lesson, {}
    bad = np.array([not label.good for label in labels])
    fit = stage_fit(stage, Settings().response.outlook)
    counts = [label.counts[stage] for label in labels]
    rows = [
        [scaled(name, row.get(name, 0), row.get("actions", 0), row.get("names_asked", 0)) for name in fit.names]
        for row in counts
    ]
    x = np.array(rows) - fit.means
    shifts = x @ fit.weights
    lesson = _compare(lesson, np.array([_left_out_loss(x, shifts, bad, place) for place in range(len(bad))]))
    changes, _ = _fit_change(x, shifts, bad, HOLD if lesson.helps else np.inf)
    values = {
        name: value for name, change in zip(fit.names, changes, strict=True) if (value := round(float(change), 4))
    }
    return lesson, {**values, USUAL: round(float((shifts + x @ changes).mean()), 4)}


def _left_out_loss(x: Floats, shifts: Floats, bad: Bools, place: int) -> tuple[float, float]:
    """Return the log loss of one session, by the shipped weights and by those fitted without it."""
    others = np.arange(len(bad)) != place
    losses = []
    for hold in (np.inf, HOLD):
        changes, intercept = _fit_change(x[others], shifts[others], bad[others], hold)
        total = shifts + x @ changes
        odds = intercept + total[place] - total[others].mean()
        losses.append(float(np.logaddexp(0.0, -odds if bad[place] else odds)))
    return losses[0], losses[1]


def _fit_change(x: Floats, shifts: Floats, bad: Bools, hold: float) -> tuple[Floats, float]:
    """Fit changes of the weights, held at nothing, and an intercept; an infinite hold fits the intercept alone."""
    width = x.shape[1] if hold < np.inf else 0
    columns = np.hstack([(x - x.mean(0))[:, :width], np.ones((len(x), 1))])
    ridge = np.append(np.full(width, hold), _NO_RIDGE)
    offset = shifts - shifts.mean()
    weights = np.zeros(width + 1)
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-(columns @ weights + offset)))
        slope = columns.T @ (chance - bad) + ridge * weights
        curve = (columns * (chance * (1.0 - chance))[:, None]).T @ columns + np.diag(ridge)
        weights = weights - np.linalg.solve(curve, slope)
    changes = np.zeros(x.shape[1])
    changes[:width] = weights[:-1]
    return changes, float(weights[-1])


def _learn_limits(lesson: Lesson, labels: Sequence[SessionLabel]) -> tuple[Lesson, dict[str, Any]]:
    if min(lesson.good, lesson.bad) < FEWEST:
        return lesson, {}
    prices = {True: FALSE_ALARM * len(labels) / (2 * lesson.good), False: len(labels) / (2 * lesson.bad)}
    shipped = {name: getattr(getattr(LoopSettings(), name), field) for name, field in _FIELDS.items()}
    losses = []
    for place, label in enumerate(labels):
        chosen = _choose_limits([*labels[:place], *labels[place + 1 :]], shipped, prices)
        alarms = [any(label.reached.get(name, 1) >= limits[name] for name in DETECTORS) for limits in (shipped, chosen)]
        losses.append([prices[label.good] * (alarm == label.good) for alarm in alarms])
    lesson = _compare(lesson, np.array(losses))
    limits = _choose_limits(labels, shipped, prices) if lesson.helps else shipped
    return lesson, {
        f"response.loops.{name}.{_FIELDS[name]}": limit for name, limit in limits.items() if limit != shipped[name]
    }


def _choose_limits(
    labels: Sequence[SessionLabel], shipped: Mapping[DetectorName, int], prices: Mapping[bool, float]
) -> dict[DetectorName, int]:
    """Choose the limit of every detector, held at the shipped one."""

    def worth(name: DetectorName, limit: int) -> float:
        alarmed = [label.good for label in labels if label.reached.get(name, 1) >= limit]
        gain = sum(-prices[True] if good else prices[False] for good in alarmed)
        return gain - HOLD_LIMIT * abs(log2(limit / shipped[name]))

    return {
        name: max(range(max(2, usual // 2), 2 * usual + 1), key=lambda limit: (worth(name, limit), limit == usual))
        for name, usual in shipped.items()
    }


def save_label(store: Labels, label: SessionLabel | None) -> Learned:
    """Store a label, or withdraw it if it is None, learn again from all labels, and write the settings."""
    store.judge_session(label)
    learned = learn_all(store.notices)
    path = learned_settings_file()
    try:
        if learned.values:
            text = profile_text("Learned from your labels; your own settings win.", learned.values)
            atomic.replace(path, text.encode())
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror})") from error
    return learned


def learn_all(notices: list[str]) -> Learned:
    """Learn from the labels of every session."""
    return learn([label for store, _ in all_labels(notices) if (label := store.session())])
