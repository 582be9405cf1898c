"""The agents whose hooks are known, by the name a person gives them."""

from __future__ import annotations

import importlib

from core.agents.hook import AgentHooks

_FOLDERS = ("claude_code", "codex", "gemini", "copilot", "opencode", "pi")

HOOKS: dict[str, AgentHooks] = {
    hooks.name: hooks
    for folder in _FOLDERS
    for hooks in (importlib.import_module(f"core.agents.{folder}.hooks").HOOKS,)
}
