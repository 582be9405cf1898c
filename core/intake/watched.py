"""What the intake needs of a session, whoever follows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from core.agents.hook import AgentHooks, HookCall, HookMode
from core.live.hook_signs import HookSigns, PermitQuestion, StatusFigures
from core.response.advice import Advised
from core.response.permits import Standing


class Watched(Protocol):
    """One session that hooks call for; used by the intake's loop alone."""

    @property
    def name(self) -> str:
        """The session's id."""

    mode: HookMode
    """What its hooks may do."""

    @property
    def project(self) -> str:
        """The folder it works in."""

    def take(self, call: HookCall, at: float) -> None:
        """A hook was called."""

    def catch_up(self) -> bool:
        """Take in a little of what the log tells beyond the hooks; whether there is more."""

    def advice(self, moment: str) -> Advised | None:
        """What may be said to the agent now."""

    def said(self, advised: Advised, at: float) -> None:
        """It was handed over."""

    def steer(self, message: str, at: float) -> None:
        """The person wants this said."""

    def standing(self) -> Standing:
        """What the governor and the budget say."""

    def doubt(self) -> str:
        """Why a call that would write is put to the person first."""

    def tell(self, figures: StatusFigures) -> None:
        """What only a status line knows."""

    def signs(self, questions: Sequence[PermitQuestion] = ()) -> HookSigns:
        """What is known ahead of the log, with the questions that wait for a permit."""

    def status(self, at: float, questions: Sequence[PermitQuestion] = ()) -> dict[str, object]:
        """How the session stands, for a status line and for the agent's own questions."""

    def failed_before(self, path: str) -> list[str]:
        """What failed at a path so far, in words."""


Follow = Callable[[AgentHooks, str], Watched]
"""Begins to follow a session of an agent, by its id."""
