"""Whether an agent of OpenHands is at work, and how the states that its log tells end its turn."""

from __future__ import annotations

from typing import Literal

from core.agents.fingerprint import fingerprint
from core.agents.usage import ENDED, failed_turn
from core.events import Prompt, Turn, Where

_STATES: dict[str, Literal["done", "failed", "stopped"]] = {
    "awaiting_user_input": "done",
    "finished": "done",
    "error": "failed",
    "rejected": "failed",
    "stuck": "failed",
    "paused": "stopped",
    "stopped": "stopped",
}


class Course:
    """Follow an agent from a prompt through its work to its rest."""

    __slots__ = ("_stage",)

    def __init__(self) -> None:
        self._stage: Literal["rests", "asked", "works"] = "rests"

    def asked(self) -> None:
        """The person said something."""
        self._stage = "asked"

    def works(self) -> None:
        """The agent said or did something and goes on."""
        self._stage = "works"

    def spoke(self, *, waits: bool) -> None:
        """The agent said something, and waits for the person or goes on."""
        self._stage = "rests" if waits else "works"

    def rests(self) -> None:
        """An event has told that its turn is over."""
        self._stage = "rests"

    def enter(self, state: str, at: float, agent: str, where: Where) -> Turn | Prompt | None:
        """What a state ends the turn with; None where no turn is under way, or it goes on.

        An agent that waits for the person before it did anything has not taken up the prompt yet.
        """
        ending = _STATES.get(state)
        if ending is None or self._stage == "rests" or (ending == "done" and self._stage == "asked"):
            return None
        self._stage = "rests"
        if ending == "stopped":
            return Prompt(at=at, agent=agent, where=where, characters=0, call=fingerprint(""), interrupt=True)
        if ending == "failed":
            return failed_turn(at, agent, where)
        return Turn(at=at, agent=agent, where=where, cost=0.0, stop=ENDED)
