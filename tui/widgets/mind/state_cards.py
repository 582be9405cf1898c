"""Cards of the mind's state: mood, forecast and vitality, what it is used to, how it corrects itself."""

from __future__ import annotations

from typing import ClassVar

from core.engine.mind.homeostasis import RuleState
from core.report.formatting import count, fraction, plain
from tui.draw.gauge import TRACK
from tui.draw.line import Line, fit
from tui.feed.view import View
from tui.widgets.common.card import Card, gauge, heading, pair, sentence_lines, signed

_TREND = {-1: "▼", 0: " ", 1: "▲"}


class CorticalCard(Card):
    """Mood, accuracy, vitality, regime, budget and tier in one place."""

    TITLE: ClassVar[str] = "Cortical state"
    TALL: ClassVar[tuple[int, int]] = (14, 33)
    HELP: ClassVar[str] = """\
## Cortical state

Pleasure, arousal and dominance say how the work goes; their signs name the emotion.
Accuracy is how well the model foresees which calls fail: 1 is perfect, 0 no better than a coin.
Skill is the share of the base rate's error that knowing the kind of call saves; negative when it misleads.
Vitality weighs the budget left against accuracy; its phase falls with it.
"""

    def said(self, view: View, width: int) -> list[Line]:
        mind = view.frame.mind
        story = view.frame.story
        state, mood, forecast = mind.cortical, mind.mood, mind.forecast
        intensity = f"{100 * mood.intensity:.0f}%"
        made: list[Line] = [
            [
                (fit("emotion", 13 if width >= 34 else 10), "quiet"),
                (state.emotion, "strong"),
                (f"  {intensity}", "quiet"),
            ],
            signed("pleasure", mood.pleasure, width, f"{mood.pleasure:+.2f}"),
            signed("arousal", mood.arousal, width, f"{mood.arousal:+.2f}"),
            signed("dominance", mood.dominance, width, f"{mood.dominance:+.2f}"),
        ]
        trend = _TREND[max(-1, min(1, state.trend))]
        made += [
            gauge(
                "accuracy", state.accuracy, width, f"{fraction(state.accuracy)} {trend}", ink="uncertainty"
            ),
            gauge(
                "vitality",
                mind.vitality.composite,
                width,
                fraction(mind.vitality.composite),
                ink="confidence",
                marks=[(mind.vitality.next_bound, "╎", "threshold")] if mind.vitality.next_bound else None,
            ),
            gauge("budget left", state.budget_remaining, width, f"{100 * state.budget_remaining:.0f}%"),
            pair("skill", f"{forecast.skill:+.2f} over {count(forecast.scored, 'call')}", width),
            pair("next call fails", f"{100 * forecast.next_failure:.0f}%", width),
            pair("phase", story.phase, width, ink="alert" if state.phase == "terminal" else "plain"),
            self._regime(view, width),
            pair("tier", state.tier, width),
        ]
        return made

    def _behaviour(self, view: View, width: int) -> list[Line]:
        """The pattern of the last minutes, what changed, and what is usual."""
        behaviour = view.frame.receptor.behaviour
        made = [
            pair("last 5 minutes", behaviour.short.pattern.replace("_", " "), width),
            pair("last half hour", behaviour.medium.pattern.replace("_", " "), width),
        ]
        if behaviour.meaning:
            made += sentence_lines(behaviour.meaning, width)
        usual = sorted(behaviour.usual, key=lambda one: -one[1])[:3]
        if usual:
            words = ", ".join(f"{name.replace('_', ' ')} {share:.0%}" for name, share in usual)
            made.append(pair("usual in earlier sessions", words, width))
        return made

    def _regime(self, view: View, width: int) -> Line:
        regime = view.frame.mind.regime
        words: str = view.frame.story.regime
        if regime.candidate not in (regime.regime, words) and regime.needed:
            words += f" → {regime.candidate}? {100 * min(1.0, regime.lasting / regime.needed):.0f}%"
        return pair("regime", words, width, ink="alert" if words.startswith("crisis") else "plain")

    def more(self, view: View, width: int) -> list[Line]:
        mind = view.frame.mind
        mood = mind.mood
        curves = [
            line
            for name, low in (("pleasure", -1.0), ("arousal", -1.0), ("dominance", -1.0), ("accuracy", 0.0))
            for line in self.past(view, name, width, low=low, label=name)
        ]
        return [
            *self.said(view, width),
            *([[], heading("so far"), *curves] if curves else []),
            [],
            heading("behaviour"),
            *self._behaviour(view, width),
            [],
            heading("where the mood is drawn"),
            signed("pleasure", mood.pleasure_target, width, f"{mood.pleasure_target:+.2f}"),
            signed("arousal", mood.arousal_target, width, f"{mood.arousal_target:+.2f}"),
            signed("dominance", mood.dominance_target, width, f"{mood.dominance_target:+.2f}"),
            pair("events a minute", f"{mood.rate:.1f}", width),
            pair("own edits that succeeded", f"{100 * mood.chosen_share:.0f}%", width),
            [],
            heading("vitality and forecast"),
            gauge("economic", mind.vitality.economic, width, fraction(mind.vitality.economic)),
            gauge("epistemic", mind.vitality.epistemic, width, fraction(mind.vitality.epistemic)),
            pair("phase lost below", fraction(mind.vitality.next_bound), width),
            pair("Brier score", f"{mind.forecast.brier:.3f}", width),
            pair(
                "last call",
                f"{100 * mind.forecast.last_expected:.0f}% to fail, "
                + ("failed" if mind.forecast.last_failed else "did not"),
                width,
            ),
        ]


class HabituationCard(Card):
    """The patterns the mind is most used to."""

    TITLE: ClassVar[str] = "Habituation"
    TALL: ClassVar[tuple[int, int]] = (8, 8)
    HELP: ClassVar[str] = """\
## Habituation

What happens again and again stops being news. The bar is the share of novelty the next occurrence would
keep; the figure beside it how often the pattern counts as seen, faded since.
"""

    def said(self, view: View, width: int) -> list[Line]:
        return self._list(view, width, 8)

    def more(self, view: View, width: int) -> list[Line]:
        return self._list(view, width, 200)

    def _list(self, view: View, width: int, most: int) -> list[Line]:
        known = view.frame.mind.habituation
        if not known.familiar:
            return [[("nothing has happened twice yet", "quiet")]]
        room = max(8, width // 2)
        made: list[Line] = []
        for exposure in known.familiar[:most]:
            name = fit(plain(exposure.what, room), room)
            bar = max(3, width - room - 12)
            lit = round(exposure.attenuation * bar)
            made.append(
                [
                    (name + " ", "plain"),
                    ("▄" * lit, "seeking"),
                    (TRACK * (bar - lit), "track"),
                    (f" {fraction(exposure.attenuation):>4}", "plain"),
                    (f" x{exposure.exposures:<4.0f}", "quiet"),
                ]
            )
        made.append([(fit(f"{known.patterns:,} patterns known", width), "quiet")])
        return made


class HomeostasisCard(Card):
    """Three rules that answer signals straying from their own average."""

    TITLE: ClassVar[str] = "Homeostasis"
    TALL: ClassVar[tuple[int, int]] = (11, 11)
    HELP: ClassVar[str] = """\
## Homeostasis

Each rule watches how far a signal strays from its own average. Beyond the threshold `╎` for long enough,
it turns its knob, in proportion, and lets go as soon as the signal is back.
"""

    def said(self, view: View, width: int) -> list[Line]:
        home = view.frame.mind.homeostasis
        made: list[Line] = []
        for rule in home.rules:
            made += self._rule(rule, width)
        held = f"  held: {', '.join(home.held)}" if home.held else ""
        made += [
            pair("tool trust", f"{home.tool_trust:.2f}", width),
            pair("tier bias", f"{home.tier_bias:+.2f}", width),
            pair("dreams", "intensive" if home.intensive else "standard", width),
        ]
        return [*made, *(sentence_lines(held.strip(), width) if held else [])]

    def _rule(self, rule: RuleState, width: int) -> list[Line]:
        reach = max(2.0 * rule.threshold, 1.1 * abs(rule.deviation), 1e-9)
        strays = rule.straying >= rule.persistence > 0
        marks = [(rule.threshold / reach, "╎", "threshold")]
        line = gauge(
            rule.signal,
            abs(rule.deviation) / reach,
            width,
            f"{rule.deviation:+.2f}",
            ink="frustration" if strays else "heat-2",
            marks=marks,
        )
        average = "no average yet" if rule.average is None else f"about {rule.average:.2f}"
        state = f"strays {rule.straying} of {rule.persistence} ticks" if rule.straying else "steady"
        if strays and rule.correction:
            state = f"{rule.knob.replace('_', ' ')} {rule.correction:+.2f}"
        return [line, [(fit(f"  {average}, {state}", width), "alert" if strays else "quiet")]]
