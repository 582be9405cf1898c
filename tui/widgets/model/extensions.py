"""The card of all extensions, and how a panel of somebody else's is kept from harming the rest."""

from __future__ import annotations

from typing import Any, ClassVar

from core.extension.hooks import FAULTS
from core.extension.offers import Switches, find_offers, in_use
from core.report.formatting import count, plain
from tui.draw.line import Line
from tui.feed.view import View
from tui.widgets.common.card import Card, heading, pair, sentence_lines


class ExtensionCard(Card):
    """Everyone who listens to this session, in the order they run, with their faults and drops."""

    TITLE: ClassVar[str] = "Extensions"
    TALL: ClassVar[tuple[int, int]] = (12, 20)

    def brief(self, view: View, width: int) -> list[Line]:
        lines: list[Line] = []
        for one in view.extensions:
            state = "" if one.on else "switched off"
            words = f"{count(one.faults, 'fault')}" if one.faults else "layer " + str(one.layer)
            ink = "plain" if one.on and not one.faults else "alert"
            lines.append(pair(plain(one.name, 30), state or words, width, ink=ink))
            if one.last:
                lines += sentence_lines(f"  {plain(one.last, 120)}", width)
        if not lines:
            lines.append([("extensions do not run during replay", "quiet")])
        for reader in view.bus:
            dropped = f"{reader.dropped:,} dropped" if reader.dropped else f"{reader.taken:,} taken"
            ink = "alert" if reader.dropped else "plain"
            lines.append(pair(f"bus: {plain(reader.name, 24)}", dropped, width, ink=ink))
        return [*lines, [], *_offered(width)]


def _offered(width: int) -> list[Line]:
    offers, off = find_offers(), Switches().off()
    if not offers.offers:
        return sentence_lines("none installed; docs/extending.md shows how to write one", width)
    lines: list[Line] = [heading("installed")]
    for offer in offers.offers:
        state = "off" if offer.key in off or "*" in off else offer.kind
        lines.append(pair(plain(offer.name, 30), state, width, ink="quiet" if state == "off" else "plain"))
    for complaint in offers.complaints:
        lines += sentence_lines(plain(complaint, 200), width, "alert")
    return lines


def _fits(value: Any) -> str:
    if not (isinstance(value, type) and issubclass(value, Card)):
        return "it is not a subclass of tui.widgets.common.card.Card"
    return ""


def installed_cards() -> tuple[list[type[Card]], tuple[str, ...]]:
    """Panels of installed extensions, each so that it cannot harm the rest; and what is wrong with others."""
    offers = in_use("panel", _fits)
    return [guarded_card(one.offer.name, one.value) for one in offers.used], offers.complaints


def guarded_card(name: str, kind: type[Card]) -> type[Card]:
    """Return the panel with its errors shown in its place; after a few errors it is no longer called."""

    class Guarded(kind):  # type: ignore[valid-type, misc]
        """A panel that may fail."""

        faults = 0
        trouble = ""

        def brief(self, view: View, width: int) -> list[Line]:
            return self._guarded("brief", view, width)

        def more(self, view: View, width: int) -> list[Line]:
            return self._guarded("more", view, width)

        def subtitle(self, view: View) -> str | None:
            if self.faults >= FAULTS:
                return None
            try:
                text = super().subtitle(view)
                return text if text is None else plain(str(text), 60)
            except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                self._failed(fault)
                return None

        def _guarded(self, hook: str, view: View, width: int) -> list[Line]:
            if self.faults < FAULTS:
                try:
                    return [
                        [(plain(str(text), 500), str(ink)) for text, ink in line]
                        for line in getattr(super(), hook)(view, width)
                    ]
                except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                    self._failed(fault)
            end = "; it is switched off until nooscope restarts" if self.faults >= FAULTS else ""
            return sentence_lines(f"the extension {name} failed ({self.trouble}){end}", width, "alert")

        def _failed(self, fault: Exception) -> None:
            self.faults += 1
            self.trouble = plain(f"{type(fault).__name__}: {fault}", 120)

    Guarded.__name__ = Guarded.__qualname__ = kind.__name__
    return Guarded
