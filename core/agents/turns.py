"""core.agents.turns."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from core.agents.models import Models
from core.events import Turn, Where

ENDED = "end_turn"
"""The stop reason of a turn that the agent ended."""
CALLING = "tool_use"
"""The stop reason of an answer that calls tools and continues after their results."""
WORDLESS = "wordless"
"""The stop reason of an answer without words: only thoughts or calls, with more to come."""


class ClosedTurns(NamedTuple):
    """The state of a log's answers while none is open."""

    closed: set[str]
    wide: list[tuple[str, str, int]]


class Usage:
    """Keeps the newest usage of each agent's open message, and returns one turn per message.

    Logs repeat a message's usage, or write it growing, on every line of the message.
    """

    __slots__ = ("_closed", "_models", "_open", "_wide")

    def __init__(self, models: Models) -> None:
        self._models = models
        self._open: dict[str, Turn] = {}
        self._closed: set[str] = set()
        self._wide: dict[tuple[str, str], int] = {}

    def pause(self) -> ClosedTurns | None:
        """Return the state of closed messages; None while one is open."""
        if self._open:
            return None
        return ClosedTurns(self._closed, [(*key, window) for key, window in self._wide.items()])

    def resume(self, state: ClosedTurns) -> None:
        """Continue from a state."""
        self._closed = state.closed
        self._wide = {(agent, model): window for agent, model, window in state.wide}

    def update(self, turn: Turn) -> Turn | None:
        """Update an agent's open message, and return the turn of the one before if this is another."""
        if turn.id and turn.id in self._closed:
            return None
        agent = turn.agent
        before = self._open.get(agent)
        self._open[agent] = turn
        if before is not None and (before.id != turn.id or not turn.id):
            return self._close(before)
        return None

    def close(self, agent: str) -> Turn | None:
        """Close an agent's open message and return its turn."""
        turn = self._open.pop(agent, None)
        return None if turn is None else self._close(turn)

    def is_closed(self, message: str) -> bool:
        """Whether the turn of a message with this id was returned."""
        return message in self._closed

    def deduplicate(self, turn: Turn) -> Turn | None:
        """Return the turn of a message the first time; None if it was returned before."""
        return None if turn.id and turn.id in self._closed else self._close(turn)

    def finish(self) -> list[Turn]:
        """Return the turns of all open messages, which stay open."""
        return [self._widened(turn) for turn in self._open.values()]

    def close_all(self) -> list[Turn]:
        """Close all open messages and return their turns."""
        return [self._close(self._open.pop(agent)) for agent in list(self._open)]

    def preview(self, turn: Turn) -> Turn | None:
        """Return what `deduplicate` would, without remembering it."""
        return None if turn.id and turn.id in self._closed else self._widened(turn)

    def _close(self, turn: Turn) -> Turn:
        """Close a turn; a window once wider than its model's usual one stays wide."""
        if turn.id:
            self._closed.add(turn.id)
        window = turn.context_window
        if window > self._models.window(turn.model):
            key = (turn.agent, turn.model)
            self._wide[key] = max(window, self._wide.get(key, 0))
        return self._widened(turn) if self._wide else turn

    def _widened(self, turn: Turn) -> Turn:
        widest = self._wide.get((turn.agent, turn.model)) if self._wide else None
        if widest is None or turn.context_window != self._models.window(turn.model):
            return turn
        return replace(turn, context_window=widest)


def retried_turn(at: float, agent: str, where: Where) -> Turn:
    """Return the turn of a failed request that is retried: the agent works and has not answered."""
    return Turn(at=at, agent=agent, where=where, cost=0.0, stop="retry")


def failed_turn(at: float, agent: str, where: Where, name: str = "") -> Turn:
    """Return a turn that an error ended before the model answered; the error's text is at the place."""
    return Turn(at=at, agent=agent, where=where, id=name, cost=0.0, stop="error")
