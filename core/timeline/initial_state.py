"""What minds are given before their first event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from core.affect import Policy
from core.engine import Engine
from core.events import MAIN
from core.mind.episode import Episode
from core.percept import Axis
from core.response import Learned, RuleSet
from core.settings import Settings
from core.society import EngineMaker, Society


class Beginning(NamedTuple):
    """All that a society's doings depend on beside settings and events; the same one begins it alike."""

    seed: int = 0
    policy: Policy | None = None
    rules: RuleSet | None = None
    learned: Learned | None = None
    prior: Mapping[Axis, float] | None = None
    """Baselines of earlier sessions."""
    past: tuple[Episode, ...] = ()
    """Episodes of earlier sessions."""

    @property
    def plain(self) -> bool:
        """Nothing but the seed was handed in, so that any machine begins alike."""
        return self == Beginning(self.seed)

    def society(self, settings: Settings, make_engine: EngineMaker = Engine) -> Society:
        """Minds that have seen nothing yet."""
        made = self._society(settings, make_engine)
        if make_engine is Engine:
            self.remind(made)
        if self.prior:
            made.engine(MAIN).receptor.seed(self.prior)
        return made

    def resumed(self, settings: Settings, state: Mapping[str, Any]) -> Society:
        """Minds that go on from a dump of some that began like this."""
        made = self._society(settings, Engine)
        made.load(state)
        self.remind(made)
        return made

    def _society(self, settings: Settings, make_engine: EngineMaker) -> Society:
        return Society(
            settings,
            policy=self.policy,
            seed=self.seed,
            make_engine=make_engine,
            rules=self.rules,
            learned=self.learned,
        )

    def remind(self, society: Society) -> None:
        """Hand the main agent what earlier sessions left; a dump does not hold it."""
        if self.past:
            society.engine(MAIN).mind.remember(self.past)


PLAIN = Beginning()
"""Nothing handed in."""
