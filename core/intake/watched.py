"""What the intake needs to know of a session, whoever follows it."""

from __future__ import annotations

from typing import Protocol

from core.agents.hook import HookCall
from core.response.advice import Advised
from core.response.permits import Standing


class Watched(Protocol):
    """One session that hooks call for."""

    def take(self, call: HookCall, at: float) -> None:
        """A hook was called."""

    def advice(self, moment: str) -> Advised | None:
        """What may be said to the agent now."""

    def said(self, advised: Advised, at: float) -> None:
        """It was handed over."""

    def standing(self) -> Standing:
        """What the governor and the budget say."""

    def status(self, at: float) -> dict[str, object]:
        """How the session stands, for a status line and for the agent's own questions."""

    def failed_before(self, path: str) -> list[str]:
        """What failed at a path so far, in words."""
