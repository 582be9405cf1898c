"""Sleep pressure: how near the need to consolidate is, and how near the agent is to forgetting."""

from __future__ import annotations

from bisect import bisect_left
from typing import ClassVar

from core.mind.dreams import Dream
from core.mind.readings import SleepReading
from core.report.formatting import clock, count, short, span
from core.timeline.marks import MarkKind
from core.timeline.track import Track
from tui.draw.gauge import area, meter
from tui.draw.line import Line, first_fit, fit, joined_cells
from tui.feed.view import View
from tui.widgets.common.mark_filter import MarkFilter
from tui.widgets.common.panel import Panel
from tui.widgets.common.timeline_cells import GLYPHS

NEAR = 0.85
"""Share of the way to compaction from which on it is near."""
_LABEL = 8
_TALLEST = 8
_CURVES = (("sleep", "fatigue-dim", "pressure so far"), ("context", "uncertainty-dim", "context so far"))


class SleepGauge(Panel):
    """Two gauges with their forecasts, and when the agent slept or forgot before."""

    TITLE: ClassVar[str] = "Sleep pressure"
    HELP: ClassVar[str] = """\
## Sleep pressure

* **sleep** is the model's own need to tidy up. Every slow tick of its clock adds load, more of it the fuller
  the context is; at 100% the next dream is due. A dream drops what has faded and resets the load.
* **context** is how full the agent's real context is, measured to the *compaction point*, where its program
  will summarise and cut it, not to the end of the window.

`▽` is a compaction, `◦` a dream. The curve is the pressure so far; the line under it holds the marks.

How far to trust it: context comes from the token counts of the log and is exact where the log has them; the
turns left assume that it grows as it did of late. Sleep is a model's figure: it says nothing about whether
the run goes well.
"""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._cuts = MarkFilter("compaction")
        self._dreams = MarkFilter("dream")

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        sleep = view.frame.mind.sleep
        if height < 2:
            return [pressure_bar(sleep, width) if sleep.context < NEAR else context_bar(sleep, width)]
        ranked: list[tuple[int, Line]] = [
            (0, pressure_bar(sleep, width)),
            (3, load_line(sleep, width)),
            (1, context_bar(sleep, width)),
            (2, context_line(sleep, width)),
        ]
        chart = self._charts(view, width, height - 6) if height > 5 else []
        ranked += [(6 if number < len(chart) - 1 else 5, line) for number, line in enumerate(chart)]
        ranked.append((4, self._past(view, width)))
        keep = sorted(range(len(ranked)), key=lambda number: ranked[number][0])[:height]
        return [ranked[number][1] for number in sorted(keep)]

    def details(self, view: View, width: int, height: int) -> list[Line]:
        sleep = view.frame.mind.sleep
        dreams = [_dream_line(dream, view, width) for dream in reversed(view.frame.mind.dreams)]
        kept = min(len(dreams), max(0, height // 5))
        made = [
            pressure_bar(sleep, width),
            load_line(sleep, width),
            context_bar(sleep, width),
            context_line(sleep, width),
        ]
        made += self._charts(view, width, height - len(made) - kept - 2)
        made += [self._past(view, width), []]
        return made + dreams[: max(0, height - len(made))]

    def _charts(self, view: View, width: int, room: int) -> list[Line]:
        """Pressure, and where there is room context, over all events; under them what happened when."""
        track = None if self.recording is None else self.recording.tracks.get(view.agent)
        if track is None or width < 8:
            return []
        rows = track.row(view.index - 1) + 1
        made: list[Line] = []
        drawn = _CURVES if room >= 10 else _CURVES[:1]
        tall = min(_TALLEST, (room - 1) // len(drawn) - 1)
        for name, ink, caption in drawn if tall >= 2 and rows else ():
            made.append([(caption, "quiet")])
            made += [[(text, ink)] for text in area(_stretched(track, name, rows, width), tall)]
        return [*made, self._strip(view, track, rows, width)]

    def _strip(self, view: View, track: Track, rows: int, width: int) -> Line:
        """When context was cut and when the mind dreamt; a compaction hides the dream it brings."""
        cells, inks = ["─"] * width, ["track"] * width
        if self.recording is None or not rows:
            return joined_cells(cells, inks)
        marks = self.recording.marks
        layers: tuple[tuple[MarkFilter, MarkKind], ...] = (
            (self._dreams, "dream"),
            (self._cuts, "compaction"),
        )
        for marks_kept, kind in layers:
            stop = marks_kept.until(marks, view.index, view.agent)
            number = 0
            while number < stop:
                cell = min(width - 1, max(0, track.row(marks_kept.places[number])) * width // rows)
                cells[cell], inks[cell] = GLYPHS[kind]
                after = -(-(cell + 1) * rows // width)
                if after >= rows:
                    break
                number = bisect_left(marks_kept.places, track.indexes[after], number + 1)
        return joined_cells(cells, inks)

    def _past(self, view: View, width: int) -> Line:
        """How often both happened, and how long ago the last was."""
        sleep, dreams = view.frame.mind.sleep, view.frame.mind.dream_count
        tries = [
            f"▽ {count(sleep.compactions, 'compaction')}  ◦ {count(dreams, 'dream')}",
            f"▽ {sleep.compactions}  ◦ {dreams}",
        ]
        last: list[float] = []
        if self.recording is not None:
            for marks_kept in (self._cuts, self._dreams):
                stop = marks_kept.until(self.recording.marks, view.index, view.agent)
                last += [mark.at for mark in marks_kept.kept[stop - 1 : stop]]
        if last:
            tries.insert(0, f"{tries[0]}, the last {span(max(0.0, view.at - max(last)))} ago")
        return [(first_fit(tries, width), "quiet")]


def _stretched(track: Track, name: str, rows: int, width: int) -> list[float | None]:
    _, tops = track.columns.envelope(name, 0, rows, width)
    found = tops.tolist()
    return [found[cell * len(found) // width] for cell in range(width)]


def pressure_bar(sleep: SleepReading, width: int) -> Line:
    """The need to consolidate against its threshold."""
    return [
        (fit("sleep", _LABEL), "plain"),
        *meter(sleep.pressure, max(1, width - _LABEL - 5), "fatigue"),
        (f" {sleep.pressure:>4.0%}", "strong" if sleep.needed else "plain"),
    ]


def context_bar(sleep: SleepReading, width: int) -> Line:
    """The context against the compaction point."""
    near = sleep.context >= NEAR
    if not sleep.context_tokens:
        return [(fit("context", _LABEL), "quiet"), (fit("not in this log", width - _LABEL), "quiet")]
    label: Line = [(fit("context", _LABEL), "plain")]
    if near:
        label = [("context", "alert-tag"), (" ", "plain")]
    return [
        *label,
        *meter(sleep.context, max(1, width - _LABEL - 5), "alert" if near else "uncertainty"),
        (f" {sleep.context:>4.0%}", "alert" if near else "plain"),
    ]


def load_line(sleep: SleepReading, width: int) -> Line:
    """The accumulator against its threshold, and when the dream comes."""
    load = f"{sleep.accumulator:.0f}/{sleep.threshold:.0f}"
    if sleep.needed:
        when = [f"dream due in {count(sleep.dream_ticks or 0, 'tick')}", "dream due"]
    elif sleep.dream_ticks is None or sleep.minutes is None:
        when = ["no dream expected"]
    else:
        minutes, ticks = span(60 * sleep.minutes), count(sleep.dream_ticks, "tick")
        when = [f"dream in ~{ticks}, full in {minutes} of work", f"dream in ~{ticks}", f"~{ticks}"]
    intensive = ", intensive" if sleep.intensive else ""
    tries = [f"load {load}{intensive} · {words}" for words in when]
    tries += [f"{load} · {words}" for words in when]
    text = first_fit([*tries, f"load {load}"], width)
    return [(text, "strong" if sleep.needed else "quiet")]


def context_line(sleep: SleepReading, width: int) -> Line:
    """Tokens against the compaction point, and the turns left."""
    tokens, point = short(sleep.context_tokens), short(sleep.compaction_point)
    if not sleep.context_tokens:
        return [(fit(f"compaction would be at {point}", width), "quiet")]
    left = sleep.turns_to_compaction
    if sleep.context_tokens >= sleep.compaction_point:
        past = f"{tokens} of {point} tokens, past the compaction point", f"{tokens}/{point}, past it"
        return [(first_fit(past, width), "alert")]
    tries = [f"{tokens} of {point} tokens", f"{tokens}/{point}"]
    if left is not None:
        turns = count(left, "turn")
        tries = [
            f"{tokens} of {point} tokens · compaction in ~{turns}",
            f"{tokens}/{point} · compaction in ~{turns}",
            f"{tokens}/{point} · ~{turns} left",
            f"{tokens}/{point} · ~{turns}",
            *tries,
        ]
    return [(first_fit(tries, width), "alert" if sleep.context >= NEAR else "quiet")]


def _dream_line(dream: Dream, view: View, width: int) -> Line:
    dropped = dream.expired + dream.forgotten
    why = "after a compaction" if dream.reason == "compaction" else f"at {dream.pressure:.0%}"
    words = f"dream {why}: {count(dream.compressed, 'episode')} compressed, {dropped} faded traces dropped"
    return [
        (f"{clock(dream.at - view.start)} ", "quiet"),
        ("◦ ", "fatigue"),
        (fit(words, width - 11), "plain"),
    ]
