"""What the readers of all agents are given beyond the fault counter: tables of tools and models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.logs.format import Kit, Reader

if TYPE_CHECKING:
    from core.agents.models import Models
    from core.agents.normalizer import Normalizer
    from core.logs.agent import Agent
    from core.logs.format import Diagnostics


class AgentKit(Kit):
    """The tables and the fault counter that all readers of one run share."""

    __slots__ = ("models", "normalizer")

    def __init__(
        self,
        normalizer: Normalizer,
        models: Models,
        diagnostics: Diagnostics,
        agents: tuple[Agent, ...] = (),
    ) -> None:
        super().__init__(diagnostics, agents)
        self.normalizer = normalizer
        self.models = models


class AgentReader(Reader):
    """A reader that knows the tables."""

    kit: AgentKit
