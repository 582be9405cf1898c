"""Cards of what the mind has lived through: episodes with their outcome, tiers and what they cost."""

from __future__ import annotations

from typing import ClassVar

from core.engine.mind.episode import ACTION_WORDS, Border, Verdict
from core.report.event_words import episode_name, event_facts, event_name, task_words
from core.report.formatting import clock, count, fraction, money, plain, short, span
from tui.draw.line import Line, fit
from tui.feed.view import View
from tui.widgets.common.card import Card, gauge, heading, pair, sentence_lines

_VERDICTS: dict[Verdict, tuple[str, str]] = {
    "gain": ("▲ gain", "confidence"),
    "loss": ("▼ loss", "frustration"),
    "flat": ("─ flat", "quiet"),
}
_LETTERS = {"+": "confidence", "-": "frustration", "0": "seeking", "!": "alert"}
_BORDERS: dict[Border, str] = {
    "start": "the start",
    "prompt": "a prompt",
    "interrupt": "an interrupt",
    "pattern": "a new pattern",
    "delta": "a delta tick",
    "session_end": "the end",
}
_BANDS = {
    "normal": "every tier may be used",
    "no_large": "the large tier is spent",
    "no_model": "both models are spent",
    "over": "spent until midnight UTC",
}


class EpisodeCard(Card):
    """The open stretch of work, and the last one that ended."""

    TITLE: ClassVar[str] = "Episodes"
    TALL: ClassVar[tuple[int, int]] = (17, 20)
    HELP: ClassVar[str] = """\
## Episodes

Stretches of work as they are remembered: shapes and folders, no content.
The trace has two letters a call: what it did (r read, e edit, s search, x shell, d delegation) and how
it ended (+ success, - failure, 0 empty, ! rejected).
"""

    def said(self, view: View, width: int) -> list[Line]:
        episodes = view.frame.mind.episodes
        sign, ink = _VERDICTS[episodes.leaning]
        made: list[Line] = [
            [("open", "strong"), ("  leans ", "quiet"), (sign, ink)],
            pair("began with", _BORDERS[episodes.began_by], width),
            pair("calls", f"{episodes.calls:,}", width),
        ]
        for name, times in episodes.task[: 12 if self.rich else 4]:
            made.append(pair(f"  {plain(task_words(name), max(8, width - 8))}", f"{times}", width))
        made += [[], *self._last(view, width)]
        made.append(pair("kept", f"{episodes.kept} whole, {episodes.summaries} summed up", width))
        if episodes.remembered:
            made.append(pair("from earlier sessions", str(episodes.remembered), width))
        return made

    def more(self, view: View, width: int) -> list[Line]:
        recalled = view.frame.mind.recalled
        made = [*self.said(view, width), [], heading("moments like this one")]
        if not recalled:
            return [*made, *sentence_lines("none comes to mind", width)]
        for line in recalled:
            made += sentence_lines(plain(line), width, "plain")
        return made

    def _last(self, view: View, width: int) -> list[Line]:
        last = view.frame.mind.episodes.last
        if last is None:
            return [[("no episode has ended yet", "quiet")]]
        sign, ink = _VERDICTS[last.outcome]
        made: list[Line] = [
            [
                (f"last, #{last.number}", "strong"),
                (f"  {clock(last.at - view.start)}  ", "quiet"),
                (sign, ink),
            ],
            *sentence_lines(episode_name(last), width, "plain"),
            pair("lasted", span(max(0.0, last.until - last.at)), width),
            pair("ended by", _BORDERS[last.ended_by], width),
            pair("regime", last.regime, width),
            pair("mostly", ACTION_WORDS[last.action], width),
            pair("calls", f"{last.calls:,}, {last.failures} failed", width),
        ]
        pairs = [last.trace[place : place + 2] for place in range(0, len(last.trace), 2)]
        room = max(1, (width - 6) // 3)
        trace: Line = [("trace ", "quiet")]
        for letters in pairs[-room:]:
            trace.append((f"{letters} ", _LETTERS.get(letters[1:], "quiet")))
        return [*made, trace] if pairs else made


class TierCard(Card):
    """Which models did the work, what the day has cost, and what the budget still allows."""

    TITLE: ClassVar[str] = "Tiers and spend"
    TALL: ClassVar[tuple[int, int]] = (9, 13)
    HELP: ClassVar[str] = """\
## Tiers and spend

T0 is no model, T1 a small one, T2 a large one. Spending counts from midnight UTC;
the tighter of the money and the token budget decides which tiers are still allowed.
The opinion is the tier this moment would deserve.
"""

    def said(self, view: View, width: int) -> list[Line]:
        tiers, opinion = view.frame.mind.tiers, view.frame.mind.opinion
        ink = "alert" if tiers.band != "normal" else "heat-3"
        made: list[Line] = [
            [
                (fit(plain(tiers.model, max(4, width - 4)) or "no model yet", width - 3), "plain"),
                (f" {tiers.tier}", "strong"),
            ],
            gauge("used today", tiers.used, width, f"{100 * tiers.used:.0f}%", ink=ink),
            [(fit(f"  {_BANDS[tiers.band]}", width), "quiet")],
        ]
        for spend in tiers.spends:
            if spend.turns:
                priced = money(spend.money, spend.turns - spend.unpriced, spend.unpriced)
                made.append(
                    pair(
                        f"{spend.tier}  {count(spend.turns, 'turn')}",
                        f"{_tokens(view, spend.tokens)}  {priced}",
                        width,
                    )
                )
        spent = money(tiers.total_money, tiers.total_priced, tiers.total_unpriced)
        made += [
            pair(
                "session" if len(view.agents) == 1 else "this agent",
                f"{_tokens(view, tiers.total_tokens)}  {spent}",
                width,
            ),
            pair("this moment deserves", opinion.tier, width, ink="strong"),
        ]
        if opinion.tier != opinion.wanted:
            made += sentence_lines(f"{opinion.wanted} but for the budget", width)
        if tiers.total_unpriced and tiers.total_priced:
            made += sentence_lines(f"{count(tiers.total_unpriced, 'turn')} of unknown price", width)
        return made

    def more(self, view: View, width: int) -> list[Line]:
        opinion = view.frame.mind.opinion
        return [
            *self.said(view, width),
            [],
            heading("why this tier"),
            pair("error of the forecast", fraction(opinion.error), width),
            pair("confidence", fraction(view.frame.mind.confidence), width),
            pair("bias of homeostasis", f"{view.frame.mind.homeostasis.tier_bias:+.2f}", width),
            pair("threshold of the gate", fraction(opinion.threshold), width),
            pair("by the gate alone", opinion.wanted, width),
        ]


def _tokens(view: View, spent: int) -> str:
    """How many, where the log tells it."""
    return short(spent) if spent or "tokens" not in view.subject.untold else "tokens unknown"


class EventsCard(Card):
    """The newest events of the mind's fabric."""

    TITLE: ClassVar[str] = "Events"
    TALL: ClassVar[tuple[int, int]] = (9, 18)
    HELP: ClassVar[str] = """\
## Events

What the mind and the rooms around it did, the newest first, each with its number; extensions, exporters and
`nooscope events` follow the same events.
"""

    def said(self, view: View, width: int) -> list[Line]:
        return self._list(view, width, 18 if self.rich else 8)

    def more(self, view: View, width: int) -> list[Line]:
        return self._list(view, width, 64)

    def _list(self, view: View, width: int, most: int) -> list[Line]:
        mind = view.frame.mind
        if not mind.events:
            return [[("nothing has happened yet", "quiet")]]
        made: list[Line] = [[(fit(f"{mind.emitted:,} so far", width), "quiet")]]
        for event in reversed(mind.events[-most:]):
            name, facts = event_name(event), plain(event_facts(event), 80)
            when = f"{clock(event.at - view.start)} "
            room = max(1, width - len(when) - len(name) - 2)
            made.append([(when, "quiet"), (f"{name}  ", "plain"), (fit(facts, room), "quiet")])
        return made
