"""Everything a session's engines receive before their first event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import cbor2
from blake3 import blake3
from msgspec import convert, to_builtins

from core.engine.affect.policy import Policy
from core.engine.affect.reading import KeptAffect, Neighbour
from core.engine.mind.episode import Episode
from core.engine.percept import Axis, Pattern
from core.engine.receptor.persona import Persona
from core.engine.response.rules import Learned, Method, RuleSet, WakeupRule, built_in
from core.engine.society import EngineMaker, Society
from core.engine.society.engine import Engine
from core.events import MAIN
from core.extension.in_step import ExtendedEngine
from core.extension.registry import StepRef, in_step, step_makers
from core.folders import user_settings_file
from core.settings import Settings
from core.store.profiles import USER_POLICY, USER_RULES, RuleFiles, last_policy, project_file


class InitialState(NamedTuple):
    """Everything a society depends on beside settings and events."""

    seed: int = 0
    policy: Policy | None = None
    rules: RuleSet | None = None
    learned: Learned | None = None
    prior: Mapping[Axis, float] | None = None  # Baselines of earlier sessions.
    past: tuple[Episode, ...] = ()  # Episodes of earlier sessions.
    thresholds: Mapping[Axis, float] | None = None  # Thresholds at which axes fired in earlier sessions.
    patterns: Mapping[Pattern, float] | None = None  # Shares of patterns in earlier sessions.
    personas: tuple[Persona, ...] = ()  # Personas that a look ahead may consult.
    affect: KeptAffect | None = None  # Affect of the same agent's last session in the same project.
    neighbours: tuple[Neighbour, ...] = ()  # Other sessions at work in the same folder.
    extensions: tuple[StepRef, ...] = ()  # Extensions that run in every step.

    @property
    def plain(self) -> bool:
        """Whether it contains nothing but the seed, so that every machine starts alike."""
        return self == InitialState(self.seed)

    def content(self) -> dict[str, Any]:
        """All of it as plain values, from which `from_content` builds the same state."""
        policy, rules = self.policy, self.rules
        written: list[Any] = []
        if rules is not None:
            written = [to_builtins(rules.methods), dict(rules.origins), to_builtins(rules.wakeups)]
        extended = {"extensions": [list(ref) for ref in self.extensions]} if self.extensions else {}
        return {
            "seed": self.seed,
            "policy": None if policy is None else policy.content(),
            "rules": None if rules is None else written,
            "learned": to_builtins(self.learned),
            "prior": None if self.prior is None else dict(self.prior),
            "past": [to_builtins(episode) for episode in self.past],
            "thresholds": None if self.thresholds is None else dict(self.thresholds),
            "patterns": None if self.patterns is None else dict(self.patterns),
            "personas": [to_builtins(persona) for persona in self.personas],
            "affect": to_builtins(self.affect),
            "neighbours": [to_builtins(one) for one in self.neighbours],
            **extended,
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> InitialState:
        """Return the state that `content` described; LookupError, TypeError or ValueError if it is none."""
        policy, rules = content["policy"], content["rules"]
        return cls(
            seed=convert(content["seed"], int),
            policy=None if policy is None else Policy.parse(policy),
            rules=None if rules is None else _rules(*rules),
            learned=convert(content["learned"], Learned | None),
            prior=convert(content["prior"], dict[Axis, float] | None),
            past=convert(content["past"], tuple[Episode, ...]),
            thresholds=convert(content.get("thresholds"), dict[Axis, float] | None),
            patterns=convert(content.get("patterns"), dict[Pattern, float] | None),
            personas=convert(content.get("personas", ()), tuple[Persona, ...]),
            affect=convert(content.get("affect"), KeptAffect | None),
            neighbours=convert(content.get("neighbours", ()), tuple[Neighbour, ...]),
            extensions=convert(content.get("extensions", ()), tuple[StepRef, ...]),
        )

    def policy_hash(self, settings: Settings) -> str:
        """By which the rules in force are known: policy, methods, and the bounds of governor and affect."""
        content = self.content()
        bounds = to_builtins([settings.governor, settings.affect])
        return blake3(cbor2.dumps([content["policy"], content["rules"], *bounds], canonical=True)).hexdigest(length=16)

    def packed(self) -> bytes:
        """Return canonical bytes of the content."""
        return cbor2.dumps(self.content(), canonical=True)

    def society(self, settings: Settings, make_engine: EngineMaker = Engine) -> Society:
        """Minds that have seen nothing yet."""
        society = self._society(settings, make_engine)
        main = society.engine(MAIN)
        if self.prior:
            main.receptor.seed(self.prior, self.thresholds)
        if make_engine is Engine:
            self.remind(society)
            if self.affect is not None:
                main.affect.resume(self.affect)
            society.receive_reports(self.neighbours)
        return society

    def resumed(self, settings: Settings, state: Mapping[str, Any]) -> Society:
        """Return a society loaded from a dump of one with this initial state."""
        society = self._society(settings, Engine)
        society.load(state)
        self.remind(society)
        return society

    def _society(self, settings: Settings, maker: EngineMaker) -> Society:
        if self.extensions and maker is Engine:
            makers, _ = step_makers(self.extensions)
            maker = partial(ExtendedEngine, extensions=makers)
        return Society(
            settings, policy=self.policy, seed=self.seed, make_engine=maker, rules=self.rules, learned=self.learned
        )

    def remind(self, society: Society) -> None:
        """Give the main agent what earlier sessions left; a dump does not contain it."""
        engine = society.engine(MAIN)
        if self.past:
            engine.mind.remember(self.past)
        if self.personas:
            engine.response.meet(self.personas)
        if self.patterns:
            engine.receptor.remind(self.patterns)


def _rules(methods: list[Any], origins: Mapping[str, str], wakeups: Sequence[Any] = ()) -> RuleSet:
    return RuleSet(tuple(map(Method.parse, methods)), origins, tuple(map(WakeupRule.parse, wakeups)))


PLAIN = InitialState()  # The default start.


class ConfiguredStart(NamedTuple):
    """The initial state from the person's files, and what is wrong with those."""

    initial: InitialState  # Without a seed: every session has its own.
    faults: tuple[str, ...] = ()


def rule_files(project: Path | None = None, before: RuleFiles | None = None) -> RuleFiles:
    """The person's rules and those of the watched project, by default of this folder."""
    own, foreign = user_settings_file().with_name(USER_RULES), project_file(project or Path.cwd())
    return RuleFiles([own], [foreign], before)


class StartFiles:
    """The files a running program starts sessions with; an invalid file keeps its last valid content.

    A project's policy is a layer of the settings and only narrows them. Extensions are the person's alone.
    """

    def __init__(self, project: Path | None = None) -> None:
        self._project = project
        self._rules: RuleFiles | None = None
        self._policy: Policy | None = None  # The last one that could be used, while its file is there.

    def read(self) -> ConfiguredStart:
        """Read all of them again; an unusable one is named."""
        files = self._rules = rule_files(self._project, self._rules)
        rules = files.load()
        path = user_settings_file().with_name(USER_POLICY)
        policy, faults = last_policy([path])
        if faults and self._policy is not None:
            policy = self._policy
            faults.append(f"{path}: its last valid content stays in use")
        self._policy = policy
        own = None if rules == built_in() else rules
        extended = in_step()
        initial = InitialState(policy=policy, rules=own, extensions=extended.refs)
        return ConfiguredStart(initial, (*files.faults, *faults, *extended.complaints))


def configured_start(project: Path | None = None) -> ConfiguredStart:
    """Read the person's policy and both rule files once; an unusable one is named and left out."""
    return StartFiles(project).read()
