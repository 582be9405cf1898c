"""What hooks told of a session and its log does not tell yet."""

from __future__ import annotations

from core.agents.fingerprint import fingerprint
from core.agents.hook import HookCall
from core.events import Action, ToolUse
from core.live.hook_signs import HookAsk, HookEndedCall, HookOpenCall
from core.logs.event_redaction import cleaned, one_line

_ENDED = 32
"""Calls remembered to have ended."""


class AheadOfLog:
    """Calls that are open, calls that ended, and what waits for the person."""

    def __init__(self, asking: frozenset[str]) -> None:
        self._asking = asking
        """Tools that put a question to the person."""
        self._open: dict[str, tuple[HookOpenCall, int]] = {}
        """Each with the fingerprint of its arguments."""
        self._ended: dict[str, HookEndedCall] = {}
        self._asks: dict[str, HookAsk] = {}
        """By what it is about."""

    @property
    def open(self) -> tuple[HookOpenCall, ...]:
        """Calls begun and not ended."""
        return tuple(one for one, _ in self._open.values())

    @property
    def ended(self) -> tuple[HookEndedCall, ...]:
        """Calls whose end the log has not told."""
        return tuple(self._ended.values())

    @property
    def asks(self) -> tuple[HookAsk, ...]:
        """What waits for the person."""
        return tuple(self._asks.values())

    def begin(self, call: HookCall, at: float, action: Action) -> None:
        """A call is about to be made."""
        self._open[_name_of(call)] = HookOpenCall(call.id, at, call.agent, call.tool, action), _print_of(call)

    def end(self, call: HookCall, use: ToolUse, *, logged: bool) -> None:
        """A call is over; where the log told it before, nothing is left to remember."""
        self._open.pop(_name_of(call), None)
        if not use.id or logged:
            return
        self._ended[use.id] = HookEndedCall(
            use.id,
            use.at,
            use.agent,
            cleaned(use.tool),
            use.action,
            use.outcome,
            cleaned(use.program),
            tuple(map(cleaned, use.targets)),
        )
        if len(self._ended) > _ENDED:
            del self._ended[next(iter(self._ended))]

    def stop(self, agent: str) -> None:
        """An agent's turn is over, and with it what it had open."""
        self._open = {key: one for key, one in self._open.items() if one[0].agent != agent}

    def clear(self) -> None:
        """The session is over."""
        self._open.clear()

    def logged(self, call: str) -> None:
        """The log told the end of a call."""
        self._open.pop(call, None)
        self._ended.pop(call, None)
        self._asks.pop(call, None)

    def hear(self, call: HookCall, at: float) -> None:
        """What begins or ceases to wait for the person; an agent's other calls and agents answer nothing.

        By the time of a prompt the log has told all that was before.
        """
        if call.moment == "prompt":
            self._ended.clear()
        if call.moment in ("permission", "attention") and self._questioned(call.agent):
            return
        if call.moment == "permission":
            about = call.id or self._begun(call)
            self._asks.pop(call.agent, None)
            why = f"{call.tool or 'it'} asks for permission"
            self._asks.setdefault(about or call.agent, HookAsk(at, why, call.agent, about))
        elif call.moment == "attention":
            if not any(ask.agent == call.agent for ask in self._asks.values()):
                self._asks[call.agent] = HookAsk(
                    at, one_line(call.said, 80) or "it waits for you", call.agent
                )
        else:
            self._asks.pop(call.agent, None)
            if call.moment == "after_tool":
                self._asks.pop(call.id, None)
            elif call.moment != "before_tool":
                self._asks = {key: ask for key, ask in self._asks.items() if ask.agent != call.agent}

    def _questioned(self, agent: str) -> bool:
        """Whether a question of the agent's own is open, which says by itself what waits."""
        return any(one.agent == agent and one.tool in self._asking for one, _ in self._open.values())

    def _begun(self, call: HookCall) -> str:
        """The id of the open call that this tool and these arguments belong to."""
        given = _print_of(call)
        return next(
            (
                one.id
                for one, arguments in self._open.values()
                if (one.agent, one.tool, arguments) == (call.agent, call.tool, given)
            ),
            "",
        )


def _name_of(call: HookCall) -> str:
    """Under which name an open call is kept; an agent that names none has its arguments."""
    return call.id or f"{call.agent} {call.tool} {_print_of(call)}"


def _print_of(call: HookCall) -> int:
    return fingerprint(repr(call.arguments))
