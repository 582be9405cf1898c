"""Two more agents as programs: Gemini CLI and Copilot CLI, each with a home of its own."""

from __future__ import annotations

import json
from pathlib import Path

from tests.agents.programs import Agent


class Gemini(Agent):
    """Gemini CLI, without a screen."""

    program = "gemini"

    def environment(self) -> dict[str, str]:
        return {
            **super().environment(),
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def prepare(self) -> None:
        """It wants to be told once how it is let in."""
        path = self.home / ".gemini" / "settings.json"
        if not path.exists():
            path.parent.mkdir()
            auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
            path.write_text(json.dumps(auth, indent=2))

    def command(self, prompt: str, *more: str) -> list[str]:
        self.prepare()
        return ["gemini", "-p", prompt, "--approval-mode", "yolo", "-m", "gemini-2.5-pro", *more]

    def logs(self) -> list[Path]:
        return sorted((self.home / ".gemini" / "tmp").glob("*/chats/session-*.json*"))


class Copilot(Agent):
    """Copilot CLI, without a screen and without its service."""

    program = "copilot"

    def environment(self) -> dict[str, str]:
        return {
            **super().environment(),
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{self.url}/v1",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "gpt-4.1",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def command(self, prompt: str, *more: str) -> list[str]:
        return ["copilot", "-p", prompt, "--allow-all-tools", *more]

    def logs(self) -> list[Path]:
        return sorted((self.home / ".copilot" / "session-state").rglob("*.jsonl"))
