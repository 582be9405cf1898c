"""Cards of the methods: how each was scored at the last act, and how hard the person is needed."""

from __future__ import annotations

from typing import ClassVar

from core.engine.response.scoring import Candidate
from core.report.event_words import firing_words
from core.report.formatting import clock, count, fraction, plain, short
from tui.draw.line import Line, fit
from tui.feed.view import View
from tui.widgets.common.card import Card, gauge, heading, pair, sentence_lines, signed

_MODES = {"auto": "on the memo", "notify": "tells you", "background": "noted in silence"}
_WIDE = 92
"""Width from which the terms stand in columns."""
_DETECTORS = {
    "repeat": "same calls again",
    "failing": "calls keep failing",
    "oscillation": "edited back and forth",
    "retest": "fails after each edit",
    "rework": "edited again and again",
    "stalled": "nothing new",
}
_TERMS = ("state", "signal", "sens.", "learned", "rested")


class CandidateCard(Card):
    """Every method at the last act, the nearest to firing first."""

    TITLE: ClassVar[str] = "Candidates"
    TALL: ClassVar[tuple[int, int]] = (20, 26)
    HELP: ClassVar[str] = """\
## Candidates

Each method that could answer, with its score at the last act and the threshold it has to pass (`╎`).
The score is a product: how well the state fits, how far the signal is above its own threshold, how sensitive
the method is, what earlier sessions taught, and how long it has rested since it last fired.
`◆` fired at this act. Below each, why it fired or did not. **Enter** shows all terms of all methods.
"""

    def said(self, view: View, width: int) -> list[Line]:
        shown = sorted(view.frame.response.candidates, key=_near)
        near = [candidate for candidate in shown if candidate.score > 0.0 or candidate.fired]
        made: list[Line] = []
        for candidate in near[:6]:
            made += [_scored(candidate, width), [(fit(f"  {candidate.why}", width), "quiet")]]
        if len(near) > 6:
            made.append([(f"and {count(len(near) - 6, 'more method')}, enter shows them", "quiet")])
        for why, names in _quiet([candidate for candidate in shown if candidate not in near]).items():
            made.append([(fit(f"{why}: {count(len(names), 'method')}", width), "plain")])
            made += sentence_lines("  " + ", ".join(names), width)
        return made or [[("no rules are loaded", "quiet")]]

    def more(self, view: View, width: int) -> list[Line]:
        response = view.frame.response
        fired = dict(response.fired)
        made: list[Line] = []
        if width >= _WIDE:
            head = "".join(term.rjust(9) for term in _TERMS)
            made.append([(fit("", 24) + head + "    score  above  fired", "quiet")])
        for candidate in sorted(response.candidates, key=_near):
            if width >= _WIDE:
                made.append(_terms(candidate, fired.get(candidate.id, 0), width))
            else:
                made.append(_scored(candidate, width))
            reason = f"  {candidate.why}; {_MODES[candidate.mode]}"
            made += sentence_lines(reason, width)
        return made or [[("no rules are loaded", "quiet")]]


def _quiet(candidates: list[Candidate]) -> dict[str, list[str]]:
    """The names of methods that score nothing, by why."""
    found: dict[str, list[str]] = {}
    for candidate in candidates:
        why = "hears none of its signals" if candidate.why.startswith("hears nothing") else candidate.why
        found.setdefault(why, []).append(method_name(candidate.id))
    return found


def _near(candidate: Candidate) -> tuple[bool, float, str]:
    """Fired first, then by how near each came."""
    nearness = candidate.score / candidate.threshold if candidate.threshold else candidate.score
    return not candidate.fired, -nearness, candidate.id


def method_name(name: str) -> str:
    """What a method does, in words; one of the person's own by its name."""
    return plain(firing_words(name), 40)


def _scored(candidate: Candidate, width: int) -> Line:
    glyph, ink = ("◆ ", "strong") if candidate.fired else ("  ", "plain")
    room = max(10, min(26, width - 22))
    bar = gauge(
        "",
        candidate.score,
        max(20, width - room - 2 + 10),
        fraction(candidate.score),
        ink="frustration" if candidate.fired else "heat-2",
        marks=[(candidate.threshold, "╎", "threshold")],
    )[1:]
    return [(glyph, ink), (fit(method_name(candidate.id), room), ink), *_within(bar, width - room - 2)]


def _within(bar: Line, width: int) -> Line:
    """The end of a bar that fits, its figure always there."""
    over = sum(len(text) for text, _ in bar) - width
    made: Line = []
    for text, ink in bar:
        cut = min(max(0, over), len(text)) if ink != "plain" else 0
        over -= cut
        made.append((text[cut:], ink))
    return made


def _terms(candidate: Candidate, times: int, width: int) -> Line:
    values = (
        candidate.state_match,
        candidate.signal_match * candidate.intensity,
        candidate.sensitivity,
        candidate.learned,
        candidate.recency,
    )
    glyph, ink = ("◆ ", "strong") if candidate.fired else ("  ", "plain")
    figures = "".join(f"{value:.2f}".rjust(9) for value in values)
    said = f"{figures}   {candidate.score:6.3f} {candidate.threshold:6.2f} {times:6,}"
    return [(glyph, ink), (fit(method_name(candidate.id), 22), ink), (fit(said, width - 24), ink)]


class PressureToAskCard(Card):
    """How near the model is to asking for the person, and the loops that press."""

    TITLE: ClassVar[str] = "Asking for you"
    TALL: ClassVar[tuple[int, int]] = (9, 18)
    HELP: ClassVar[str] = """\
## Asking for you

Signals, loops and halts add up to a pressure; where it reaches the threshold (`╎`) you are asked, once, and
again only after it fell well below or you spoke. Affect moves the threshold within bounds.
Below, each loop detector and how far it is from speaking.
"""

    def said(self, view: View, width: int) -> list[Line]:
        return self._said(view, width, 4)

    def more(self, view: View, width: int) -> list[Line]:
        return self._said(view, width, 99)

    def _said(self, view: View, width: int, most: int) -> list[Line]:
        response = view.frame.response
        over = response.pressure >= response.asks_at
        made: list[Line] = [
            gauge(
                "pressure",
                response.pressure,
                width,
                fraction(response.pressure),
                ink="frustration" if over else "heat-2",
                marks=[(response.asks_at, "╎", "threshold")],
            )
        ]
        missing = response.asks_at - response.pressure
        words = "at the threshold: you are asked" if over else f"{fraction(missing)} below asking"
        made.append([(fit(f"  threshold {fraction(response.asks_at)}, {words}", width), "quiet")])
        loop = response.loops.current
        if loop is not None:
            made += [[("▲ ", "alert"), (fit(plain(loop.what), max(1, width - 2)), "alert")]]
            since = clock(loop.began_at - view.start)
            made.append([(fit(f"  since {since}, strength {fraction(loop.intensity)}", width), "quiet")])
        else:
            made.append([(fit("no loop stands", width), "quiet")])
        ranked = sorted(response.loops.detectors, key=lambda one: -one.count / max(1, one.limit))
        for detector in ranked[:most]:
            name = _DETECTORS.get(detector.name, detector.name.replace("_", " "))
            said = (
                f"{short(detector.count)} of {short(detector.limit)}" if detector.enabled else "switched off"
            )
            made.append(pair(f"  {name}", said, width))
        return made


class LearnedCard(Card):
    """How earlier sessions moved the sensitivity of each axis."""

    TITLE: ClassVar[str] = "Learned"
    TALL: ClassVar[tuple[int, int]] = (5, 9)
    HELP: ClassVar[str] = """\
## Learned

An axis that fires more often than is usual for this agent is heard less, one that fires less often is heard
more. The sensor itself stays as it is: only the scores above are scaled by 1 plus this figure.
"""

    def said(self, view: View, width: int) -> list[Line]:
        learned = view.frame.response.learned
        if not any(delta for _, delta in learned):
            return sentence_lines("nothing learned yet: every axis is heard as the settings say", width)
        return [
            signed(axis, delta, width, f"{delta:+.2f}", reach=0.5)
            for axis, delta in sorted(learned, key=lambda one: -abs(one[1]))
        ]


class FiredCard(Card):
    """How often each method spoke, and what it last said."""

    TITLE: ClassVar[str] = "Spoke last"
    TALL: ClassVar[tuple[int, int]] = (8, 14)
    HELP: ClassVar[str] = """\
## Spoke last

The last method that fired, what made it fire, and its words; below, how often each fired so far.
"""

    def said(self, view: View, width: int) -> list[Line]:
        response = view.frame.response
        last = response.last
        if last is None:
            return [[("no method has fired so far", "quiet")]]
        when = f" {clock(last.at - view.start)}"
        made: list[Line] = [
            [
                ("◆ ", "strong"),
                (fit(method_name(last.method), max(1, width - 2 - len(when))), "strong"),
                (when, "quiet"),
            ],
            *sentence_lines(plain(last.text), width, "plain"),
            *sentence_lines(f"because {plain(last.reason)}", width),
            heading("so far"),
        ]
        ranked = sorted(response.fired, key=lambda one: (-one[1], one[0]))
        for name, times in ranked[: 20 if self.rich else 4]:
            made.append(pair(f"  {method_name(name)}", count(times, "time"), width))
        return made
