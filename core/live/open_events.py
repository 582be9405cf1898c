"""What a session has begun and not ended, by its log and, ahead of that, by its agent's hooks."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from core.events import Event, ToolUse
from core.live.hook_signs import HookSigns
from core.live.source import Source
from core.live.status import StatusFacts

_ENDED = 512
"""Ended calls remembered."""


class OpenEvents:
    """Look at the end of the log once, until it changes or hooks tell something else."""

    __slots__ = ("_begun", "_ended", "_held", "_hooks", "_signs", "_source")

    def __init__(self, source: Source, hooks: Callable[[str], HookSigns | None] | None) -> None:
        self._source = source
        self._hooks = hooks
        self._signs: HookSigns | None = None
        """What hooks told when the end of the log was last looked at."""
        self._ended: dict[str, None] = {}
        """Ids of the calls that ended last, so that what hooks tell late opens none of them again."""
        self._held: tuple[Event, ...] | None = None
        self._begun: tuple[Event, ...] = ()

    def changed(self) -> None:
        """The log has changed: look at its end again."""
        self._held = None

    def take(self, event: Event) -> None:
        """An event of the log came, which may end a call."""
        self._held = None
        if self._hooks is not None and type(event) is ToolUse and event.id and event.outcome != "pending":
            self._ended[event.id] = None
            if len(self._ended) > _ENDED:
                del self._ended[next(iter(self._ended))]

    def read(self) -> tuple[Event, ...]:
        """What is open now, once all of the log has been read."""
        if self._source.behind:
            return ()
        signs = self._told()
        if self._held is None or signs is not self._signs:
            held = self._begun = tuple(self._source.held())
            self._held = held if signs is None else signs.ahead(held, self._ended)
            self._signs = signs
        return self._held

    def begun(self) -> tuple[Event, ...]:
        """What the log itself tells of it: what hooks know ahead of the log is no event yet."""
        self.read()
        return () if self._source.behind else self._begun

    def with_hooks(self, facts: StatusFacts) -> StatusFacts:
        """The facts of a log with what hooks know beyond it."""
        signs = self._told()
        if signs is None:
            return facts
        return replace(facts, asks=signs.asking(self._ended), heard=max(facts.heard, signs.heard))

    def _told(self) -> HookSigns | None:
        session = self._source.session
        return self._hooks(session.id) if self._hooks is not None and session and session.id else None
