"""How every session begins here: under the person's policy and both the person's and the project's rules."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from core.engine.affect import Policy
from core.engine.response.rules import built_in
from core.extension.use import in_step
from core.store.config_path import user_settings_file
from core.store.policy import USER_FILE as USER_POLICY
from core.store.policy import chosen_policy
from core.store.rules import USER_FILE as USER_RULES
from core.store.rules import RuleFiles, project_file
from core.timeline.initial_state import InitialState


class ConfiguredStart(NamedTuple):
    """What minds are given, and what is wrong with the files it comes from."""

    initial: InitialState
    """Without a seed: every session has its own."""
    faults: tuple[str, ...] = ()


def rule_files(project: Path | None = None, before: RuleFiles | None = None) -> RuleFiles:
    """The person's rules and those of the watched project, by default of this folder."""
    own, foreign = user_settings_file().with_name(USER_RULES), project_file(project or Path.cwd())
    return RuleFiles([own], [foreign], before)


class StartFiles:
    """The files a running program begins sessions with; one that turns bad keeps its last good word.

    A project's policy is a layer of the settings and only narrows them. Extensions are the person's alone.
    """

    def __init__(self, project: Path | None = None) -> None:
        self._project = project
        self._rules: RuleFiles | None = None
        self._policy: Policy | None = None
        """The last one that could be used, while its file is there."""

    def read(self) -> ConfiguredStart:
        """Read them all again; one that cannot be used is named."""
        files = self._rules = rule_files(self._project, self._rules)
        rules = files.load()
        path = user_settings_file().with_name(USER_POLICY)
        policy, faults = chosen_policy([path])
        if faults and self._policy is not None:
            policy = self._policy
            faults.append(f"{path}: its last good content stays")
        self._policy = policy
        own = None if rules == built_in() else rules
        extended = in_step()
        return ConfiguredStart(
            InitialState(policy=policy, rules=own, extensions=extended.refs),
            (*files.faults, *faults, *extended.complaints),
        )


def configured_start(project: Path | None = None) -> ConfiguredStart:
    """Read the person's policy and both rule files once; one that cannot be used is named and left out."""
    return StartFiles(project).read()
