"""Cards of plain counts: how the run goes against what is usual, and the facts it is read from."""

from __future__ import annotations

from typing import ClassVar

from core.engine.response.outlook import OutlookReading, band_words
from core.report.formatting import count, share
from tui.draw.line import Line, first_fit, fit
from tui.feed.view import View
from tui.widgets.common.card import Card, pair, sentence_lines, signed

_DIRECTIONS = {
    "too early": ("·", "too early to say: fewer than 10 actions", "quiet"),
    "worse": ("▲", "goes worse than is usual", "frustration"),
    "usual": ("─", "goes about as usual", "plain"),
    "better": ("▼", "goes better than is usual", "confidence"),
}
_TROUBLE = 2
"""The level from which a status speaks against an outlook that is good."""


class OutlookCard(Card):
    """Whether the run goes worse or better than is usual, and why."""

    TITLE: ClassVar[str] = "Outlook"
    TALL: ClassVar[tuple[int, int]] = (11, 14)
    HELP: ClassVar[str] = """\
## Outlook

From plain counts and weights fitted on labelled runs: does this run go worse or better than is usual? Above 0
speaks for going wrong; the figures in brackets say how far it may be off. It is a read-out and never an
alarm. A chance is shown only where the agent's own share of failing runs is set. Reasons are compared with
what was usual in those runs; counts that only correct others are in the shift and not among the reasons.
"""

    def said(self, view: View, width: int) -> list[Line]:
        outlook = view.frame.response.outlook
        glyph, words, ink = _DIRECTIONS[outlook.direction]
        made: list[Line] = [[(f"{glyph} ", ink), (fit(words, max(1, width - 2)), ink)]]
        if outlook.direction == "better" and view.status is not None and view.status.level >= _TROUBLE:
            said = f"in its counts, but now {view.status.glyph} {view.status.word}"
            made.append([(fit(f"  {said}", width), "alert")])
        if outlook.stage == "too early":
            return made
        made += [
            signed("shift", outlook.shift, width, f"{outlook.shift:+.1f}", reach=3.0, worse_above=True),
            pair("with its band", band_words(outlook), width),
        ]
        if outlook.chance is not None:
            made.append(pair("chance of failing", f"{100 * outlook.chance:.0f}%", width))
        for reason in outlook.reasons:
            sign = "▲" if reason.amount > 0 else "▼"
            said = reason.text.rpartition(":")[0]
            words = first_fit((said, said.removesuffix(" than usual"), said.rpartition(",")[0]), width - 4)
            made.append([(fit(f"  {sign} {words}", width), "plain")])
        return [*made, *self._source(outlook, width)]

    def _source(self, outlook: OutlookReading, width: int) -> list[Line]:
        return sentence_lines(f"learned from {outlook.fitted_on}", width) if self.rich else []


class FactsCard(Card):
    """What the agent did, counted and not interpreted."""

    TITLE: ClassVar[str] = "Facts"
    TALL: ClassVar[tuple[int, int]] = (14, 22)
    HELP: ClassVar[str] = """\
## Facts

Counts over the whole session. An action is a call that took place; a change is a good edit of a file the
agent did not make itself; a check is the first command after an edit.
"""

    def said(self, view: View, width: int) -> list[Line]:
        facts = view.frame.receptor.facts
        recent = (
            f"{facts.failures_recent} of the last {facts.of_failures}" if facts.of_failures else "none yet"
        )
        rows = [
            ("actions", f"{facts.actions:,}"),
            ("of these, looks", f"{facts.looks:,}"),
            ("commands, edits", f"{facts.runs:,}, {facts.edits:,}"),
            ("failed", f"{facts.failures:,} ({share(facts.failures, facts.actions)}), {recent}"),
            ("failures in a row", f"{facts.failures_in_a_row:,}"),
            ("an error seen before", count(facts.same_error, "time")),
            ("changes", f"{facts.changes:,} in {count(facts.changed_files, 'file')}"),
            ("edits checked", f"{facts.checks:,}, {facts.checks_passed:,} passed"),
            ("edits since a pass", f"{facts.edits_since_pass:,}"),
            ("since the last change", count(facts.since_change, "action")),
            ("same call, same result", count(facts.same_result, "time")),
            ("read again in vain", count(facts.rereads, "time")),
        ]
        if self.rich:
            rows += [
                ("test runs", f"{facts.tests:,}"),
                ("failed edits", f"{facts.failed_edits:,}, {facts.failed_edits_again:,} of the same file"),
                ("failed reads", f"{facts.failed_reads:,}"),
                ("same call, new result", count(facts.new_result, "time")),
                ("edits of an edited file", f"{facts.edits_again:,}"),
                ("new files touched", f"{facts.new_files:,}"),
                ("looks before a change", f"{facts.looks_before_edit:,}"),
                ("commands since a change", f"{facts.runs_since_change:,}"),
                ("stale results lately", f"{facts.stale_recent:,} of the last {facts.of_recent:,}"),
                ("words of checking", f"{facts.words_of_checking:,}"),
                ("words of doubt", f"{facts.words_of_doubt:,}"),
            ]
        return [pair(name, value, width) for name, value in rows]
