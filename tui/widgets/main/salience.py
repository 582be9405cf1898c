"""The salience queue: the strongest stimuli, the parts of their scores, and how long they stay."""

from __future__ import annotations

from typing import ClassVar

from core.engine.mind.readings import SalienceReading
from core.engine.mind.stimulus import StimulusKind
from core.report.formatting import clock, fraction, plain, span
from core.report.now import Now
from core.settings.mind import SalienceSettings
from tui.draw.gauge import stack
from tui.draw.line import Line, fit
from tui.feed.view import View
from tui.widgets.common.panel import Panel

# Glyph, word and style of each kind.
KINDS: dict[StimulusKind, tuple[str, str, str]] = {
    "owner_message": ("›", "person", "live"),
    "policy_violation": ("■", "policy", "alert"),
    "confirmation": ("+", "success", "confidence"),
    "anomaly": ("▲", "anomaly", "frustration"),
    "trace": ("◇", "trace", "uncertainty"),
    "dream_request": ("▽", "memory", "fatigue"),
}
# Glyph, style and word of novelty, relevance and urgency.
TERMS = (("▆", "seeking", "new"), ("▄", "flow", "matters"), ("▂", "frustration", "urgent"))


_FULL = 0.4  # No weaker score fills a bar.


class SalienceQueue(Panel):
    """The live queue, strongest first."""

    TITLE: ClassVar[str] = "Salience"
    CLICKS_ZOOM = True
    EMPTY_QUEUE: ClassVar[str] = "nothing needs attention"

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        mind = view.frame.mind
        items = mind.salience
        if not items:
            return [[(fit(self.EMPTY_QUEUE, width), "quiet")]]
        settings, top = self._settings(view), _scale(items)
        lines_each = max(1, min(3, height // len(items))) if width >= 34 else 1
        lines: list[Line] = []
        for item in items:
            lines += [_row(item, view, settings, width, top), _sum_line(item, settings, width), []][:lines_each]
        more = mind.queued - sum(item.times for item in items)
        if more > 0 and len(lines) < height:
            lines.append([(fit(f"{more} more waiting", width), "quiet")])
        return lines

    def details(self, view: View, width: int, height: int) -> list[Line]:
        mind = view.frame.mind
        if not mind.salience:
            return self.lines(view, width, height)
        settings, top = self._settings(view), _scale(mind.salience)
        lines: list[Line] = []
        for item in mind.salience:
            lines += [
                _row(item, view, settings, width, top),
                _sum_line(item, settings, width),
                _fate(item, view, settings),
            ]
            lines.append([])
        more = mind.queued - sum(item.times for item in mind.salience)
        rest = f", {more} of them not shown" if more > 0 else ""
        lines.append([(f"{mind.queued} waiting{rest}", "quiet")])
        return lines[:height]

    def subtitle(self, view: View) -> str:  # noqa: ARG002
        return " ".join(f"{glyph} {word}" for glyph, _, word in TERMS)

    def _settings(self, view: View) -> SalienceSettings:
        """Return the settings in force at the playhead."""
        if self.recording is None:
            return _DEFAULT
        versions = [change.settings for change in self.recording.changes if change.after <= view.index]
        return versions[-1].mind.salience if versions else _DEFAULT


_DEFAULT = SalienceSettings()


def _terms(item: SalienceReading, settings: SalienceSettings) -> tuple[float, float, float]:
    return (
        item.novelty * settings.novelty_weight,
        item.relevance * settings.relevance_weight,
        item.urgency * settings.urgency_weight,
    )


def _row(item: SalienceReading, view: View, settings: SalienceSettings, width: int, top: float) -> Line:
    glyph, word, ink = KINDS[item.kind]
    room = 3 if width < 28 else 4 if width < 44 else 8 if width < 52 else min(30, width // 5)
    left = item.score / item.arrived_with / top if item.arrived_with else 0.0
    parts = [(term * left, mark, colour) for term, (mark, colour, _) in zip(_terms(item, settings), TERMS, strict=True)]
    parts.append((max(0.0, item.arrived_with - item.score) / top, "▁", "quiet"))
    age = span(item.age)
    tail = f" {age.split()[0]:>3}"
    if width >= 64:
        tail = f" {age:>7}  {span(max(0.0, settings.expiry - item.age)):>7} left"
    times = f" +{item.times - 1}" if item.times > 1 else ""
    kind = f" {glyph} " + (fit(word, 8) if width >= 52 else "")
    what = width - 4 - room - len(kind) - len(times) - len(tail)
    return [
        (f"{fraction(item.score):<4}", "strong" if item.promoted else "quiet"),
        *stack(parts, room),
        (kind, ink),
        (fit(_what(item, view.now), max(0, what)), "plain"),
        (times, "strong"),
        (tail, "quiet"),
    ]


def _what(item: SalienceReading, now: Now) -> str:
    """Return the stimulus's subject, in the log's words if the strip shows the same event."""
    if item.kind == "owner_message" and item.at == now.asked_at and now.asked:
        return f"you: “{plain(now.asked)}”"
    if item.kind == "anomaly" and item.at == now.failed_at and now.failed:
        return f"failed: {plain(now.failed)}"
    return plain(item.what)


def _scale(items: tuple[SalienceReading, ...]) -> float:
    """The score that fills a bar: the greatest any of them came with."""
    return max(_FULL, *(item.arrived_with for item in items))


def _sum_line(item: SalienceReading, settings: SalienceSettings, width: int) -> Line:
    """The three terms as the sum they are."""
    wide = width >= 60
    line: Line = [("    " if wide else "  ", "plain")]
    for number, (amount, (_, ink, word)) in enumerate(zip(_terms(item, settings), TERMS, strict=True)):
        line.append(((" + " if wide else "  ") if number else "", "quiet"))
        line.append((f"{word} ", "quiet"))
        line.append((fraction(amount), ink))
    if wide:
        line.append((f" = {fraction(item.arrived_with)}, now {fraction(item.score)}", "quiet"))
    return line


def _fate(item: SalienceReading, view: View, settings: SalienceSettings) -> Line:
    """Where it comes from and when it goes."""
    rest = span(max(0.0, settings.expiry - item.age))
    promoted = "promoted" if item.promoted else "not promoted"
    came = f"arrived at {clock(item.at - view.start)}"
    return [("    ", "plain"), (f"{item.cause}, {came}, {promoted}, dropped in {rest}", "quiet")]
