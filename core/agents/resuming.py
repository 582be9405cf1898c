"""How a person takes a session up again in the agent that ran it."""

from __future__ import annotations

import shlex

from core.agents.registry import known_agents
from core.safe_text import safe


def resume_command(agent: str, session: str, path: str, project: str) -> str:
    """The command to type into a shell, from the session's own folder; blank where there is none.

    What comes from a log is quoted, and refused where it holds what a terminal would act on.
    """
    known = next((one.resume for one in known_agents() if one.name == agent), ())
    values = {"{session}": session, "{path}": path}
    if not known or any(safe(text) != text for text in (session, path, project)):
        return ""
    words = [values.get(word, word) for word in known]
    if not all(words) or any(word.startswith("-") for word in (session, path) if word in words):
        return ""
    command = shlex.join(words)
    return f"cd {shlex.quote(project)} && {command}" if project.startswith("/") else command
