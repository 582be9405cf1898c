"""The agents as programs: installed once into a cache folder, started in a home of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = {"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex", "opencode": "opencode-ai"}
MORE_PACKAGES = {"gemini": "@google/gemini-cli", "copilot": "@github/copilot"}
"""Agents whose stories are left out where they are not installed."""
FOLDER = Path(
    os.environ.get("AGENTS_FOLDER")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nooscope" / "agents"
)
"""Where the agents are installed; told before a test gets a home of its own."""
LONGEST = 240.0
"""Seconds an agent may take for a story."""


def program(name: str) -> Path | None:
    """An installed agent, or None."""
    found = FOLDER / "node_modules" / ".bin" / name
    return found if found.exists() else None


def missing() -> str:
    """Why the agents cannot be run here; blank where they can."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "node and npm are not installed"
    absent = [name for name in PACKAGES if program(name) is None]
    return f"{', '.join(absent)} not installed; `make agents` does it" if absent else ""


def install() -> int:
    """Install what is missing, by npm."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        sys.stdout.write("agents: skipped, because node and npm are not installed\n")
        return 0
    wanted = {**PACKAGES, **MORE_PACKAGES}
    absent = [package for name, package in wanted.items() if program(name) is None]
    if absent:
        FOLDER.mkdir(parents=True, exist_ok=True)
        sys.stdout.write(f"agents: installing {', '.join(absent)} into {FOLDER}\n")
        sys.stdout.flush()
        return subprocess.run(
            ["npm", "install", "--no-fund", "--no-audit", "--prefix", FOLDER, *absent]
        ).returncode
    return 0


class Agent:
    """One agent with a home and a project of its own, that asks only the made-up model."""

    def __init__(self, place: Path, url: str) -> None:
        self.home = place / "home"
        self.project = place / "project"
        self.url = url
        self.home.mkdir(exist_ok=True)
        self.project.mkdir(exist_ok=True)

    def environment(self) -> dict[str, str]:
        """Nothing of ours but the path to node."""
        tools = [str(FOLDER / "node_modules" / ".bin"), str(Path(shutil.which("node") or "/").parent)]
        return {
            "PATH": os.pathsep.join((*tools, "/usr/bin", "/bin")),
            "HOME": str(self.home),
            "TERM": "dumb",
            "NO_PROXY": "127.0.0.1",
        }

    def command(self, prompt: str, *more: str) -> list[str]:
        """The words that start it."""
        raise NotImplementedError

    def start(self, prompt: str, *more: str) -> subprocess.Popen[str]:
        """Begin a story, without waiting for its end."""
        return subprocess.Popen(
            self.command(prompt, *more),
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, prompt: str, *more: str) -> str:
        """A whole story; what the agent printed."""
        running = self.start(prompt, *more)
        try:
            said, _ = running.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            running.kill()
            said, _ = running.communicate()
            raise AssertionError(f"the agent did not end: {said[-2000:]}") from None
        return said

    def logs(self) -> list[Path]:
        """The logs it wrote, oldest first."""
        raise NotImplementedError


class Claude(Agent):
    """Claude Code, without a screen."""

    def environment(self) -> dict[str, str]:
        return {
            **super().environment(),
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def command(self, prompt: str, *more: str) -> list[str]:
        return [
            "claude",
            "-p",
            prompt,
            "--allowedTools",
            "Bash",
            "Write",
            "Edit",
            "Read",
            "Task",
            "Agent",
            *more,
        ]

    def logs(self) -> list[Path]:
        found = (self.home / ".claude" / "projects").glob("*/*.jsonl")
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)


class Codex(Agent):
    """Codex, without a screen."""

    settings = ""

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "CODEX_HOME": str(self.home / ".codex")}

    def command(self, prompt: str, *more: str) -> list[str]:
        place = self.home / ".codex"
        place.mkdir(exist_ok=True)
        (place / "config.toml").write_text(
            'model = "gpt-5.5"\nmodel_provider = "fake"\n'
            f"{self.settings}\n[model_providers.fake]\n"
            f'name = "fake"\nbase_url = "{self.url}/v1"\nwire_api = "responses"\n'
            "requires_openai_auth = false\n"
        )
        return ["codex", "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", *more, prompt]

    def logs(self) -> list[Path]:
        return sorted((self.home / ".codex" / "sessions").rglob("rollout-*.jsonl"))


class OpenCode(Agent):
    """OpenCode, without a screen."""

    def environment(self) -> dict[str, str]:
        return {
            **super().environment(),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "npm_config_offline": "true",
            "npm_config_fetch_retries": "0",
        }

    def command(self, prompt: str, *more: str) -> list[str]:
        model = {"name": "fake", "tool_call": True, "limit": {"context": 40_000, "output": 4000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "fake",
            "options": {"baseURL": f"{self.url}/v1", "apiKey": "none"},
            "models": {"fake-1": model},
        }
        settings = {
            "provider": {"fake": provider},
            "model": "fake/fake-1",
            "autoupdate": False,
            "share": "disabled",
        }
        (self.project / "opencode.json").write_text(json.dumps(settings))
        return ["opencode", "run", *more, prompt]

    def logs(self) -> list[Path]:
        return sorted((self.home / ".local" / "share" / "opencode").glob("opencode.db"))


if __name__ == "__main__":
    sys.exit(install())
