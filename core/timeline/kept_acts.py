"""What the methods of one run did when they fired, which another run does again without memory and paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from core.mind import Mind
from core.receptor import Receptor
from core.response import Learned, Response, RuleSet
from core.response.actions import ActionResult
from core.response.method import Method
from core.response.scene import Scene
from core.settings.response import ResponseSettings


class OtherStepError(Exception):
    """A room hands on something else than in the run that is kept."""


class KeptAct(NamedTuple):
    """What a method was given of its scene that the response itself decides, and what it did."""

    method: str
    given: tuple[object, ...]
    result: ActionResult


def _decided(scene: Scene) -> tuple[object, ...]:
    return scene.cue, scene.intensity, scene.pressure, scene.loop, scene.signature, scene.delegates


class NotedActs(Response):
    """A response that keeps what its methods do."""

    __slots__ = ("_note",)

    def __init__(
        self,
        settings: ResponseSettings,
        receptor: Receptor,
        mind: Mind,
        note: Callable[[KeptAct], None],
        *,
        rules: RuleSet | None,
        learned: Learned | None,
        agent: str,
    ) -> None:
        super().__init__(settings, receptor, mind, rules=rules, learned=learned, agent=agent)
        self._note = note

    def _act(self, scene: Scene, method: Method) -> ActionResult:
        done = super()._act(scene, method)
        self._note(KeptAct(method.id, _decided(scene), done))
        return done


class RepeatedActs(Response):
    """A response whose methods do again what they did, with a receptor and a mind that have seen nothing."""

    __slots__ = ("acts",)

    def __init__(
        self,
        settings: ResponseSettings,
        receptor: Receptor,
        mind: Mind,
        *,
        rules: RuleSet | None,
        learned: Learned | None,
        agent: str,
    ) -> None:
        super().__init__(settings, receptor, mind, rules=rules, learned=learned, agent=agent)
        self.acts: Iterator[KeptAct] = iter(())
        """What was done with this event."""

    def _act(self, scene: Scene, method: Method) -> ActionResult:
        kept = next(self.acts, None)
        if kept is None or kept.method != method.id or kept.given != _decided(scene):
            raise OtherStepError
        return kept.result
