"""Hook calls as agents make them."""

from __future__ import annotations

from typing import Any

from core.agents.registry import make_kit
from core.hooks.agent_answers import HOOKS, HookCall
from core.hooks.session import HookedSession
from core.settings import Settings

KIT = make_kit()


def hook(name: str, session: str = "s-1", **more: Any) -> dict[str, Any]:
    """What Claude Code hands to a hook."""
    return {"hook_event_name": name, "session_id": session, "cwd": "/project", **more}


def tool(name: str, number: int, command: str = "python3 missing.py", **more: Any) -> dict[str, Any]:
    return hook(name, tool_name="Bash", tool_input={"command": command}, tool_use_id=f"toolu_{number}", **more)


def failure(number: int, command: str = "python3 missing.py") -> dict[str, Any]:
    return tool("PostToolUseFailure", number, command, error="Exit code 2\nno such file")


def read(value: dict[str, Any], agent: str = "claude") -> HookCall:
    call = HOOKS[agent].read(value)
    assert call is not None
    return call


def session(settings: Settings | None = None, **more: Any) -> HookedSession:
    return HookedSession(HOOKS["claude"], "s-1", KIT, settings or Settings(), **more)
