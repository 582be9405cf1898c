"""The agents as programs: installed once into a cache folder, started in a home of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = {
    "node": "node@22",  # The newest agents need it; for an older one npm silently gives older agents.
    "claude": "@anthropic-ai/claude-code@latest",
    "codex": "@openai/codex@latest",
    "opencode": "opencode-ai@latest",
    "qwen": "@qwen-code/qwen-code@latest",
    "pi": "@mariozechner/pi-coding-agent@latest",
    "cline": "cline@latest",
    "gemini": "@google/gemini-cli@latest",
    "copilot": "@github/copilot@latest",
}
FOLDER = Path(
    os.environ.get("AGENTS_FOLDER")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nooscope" / "agents"
)
"""Where the agents are installed; told before a test gets a home of its own."""
_INSTALLING = 600.0
"""Seconds npm may take for one agent."""
LONGEST = 240.0
"""Seconds an agent may take for a story."""


def program(name: str) -> Path | None:
    """An installed agent, or None."""
    found = FOLDER / "node_modules" / ".bin" / name
    return found if found.exists() else None


def missing(name: str) -> str:
    """Why an agent cannot be run here; blank where it can."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "node and npm are not installed"
    return "" if program(name) else f"{name} is not installed; `make agents` does it where npm can"


def install() -> None:
    """Install what is missing, by npm, each for itself: one that npm cannot give is skipped with a word."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        sys.stdout.write("agents: skipped, because node and npm are not installed\n")
        return
    for name, package in PACKAGES.items():
        if program(name) is not None:
            continue
        FOLDER.mkdir(parents=True, exist_ok=True)
        sys.stdout.write(f"agents: installing {package} into {FOLDER}\n")
        sys.stdout.flush()
        words = ["npm", "install", "--no-fund", "--no-audit", "--loglevel=error", "--prefix", str(FOLDER), package]
        try:
            failed = subprocess.run(words, timeout=_INSTALLING).returncode != 0
        except subprocess.TimeoutExpired:
            failed = True
        if failed:
            sys.stdout.write(f"agents: npm could not install {package}; its stories are skipped\n")


def end(running: subprocess.Popen[str]) -> str:
    """End a program that may still run; what it printed."""
    if running.poll() is None:
        running.kill()
    said, _ = running.communicate()
    return said


class Agent:
    """One agent with a home and a project of its own, that asks only the made-up model."""

    program = ""
    """The command's name."""
    lingers = 0.0
    """Seconds after which it is ended, of a program that may stay on when its story is over; 0 of others."""

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
        return self.finish(self.start(prompt, *more))

    def finish(self, running: subprocess.Popen[str]) -> str:
        """Wait for the end of a story that was begun; what the agent printed."""
        try:
            said, _ = running.communicate(timeout=self.lingers or LONGEST)
        except subprocess.TimeoutExpired:
            said = end(running)
            if self.lingers:
                return said
            raise AssertionError(f"the agent did not end: {said[-2000:]}") from None
        return said

    def logs(self) -> list[Path]:
        """The logs it wrote, oldest first."""
        raise NotImplementedError


class Claude(Agent):
    """Claude Code, without a screen."""

    program = "claude"

    def environment(self) -> dict[str, str]:
        return {
            **super().environment(),
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",  # Without it, it refuses one of its modes where the tests run as root.
        }

    def command(self, prompt: str, *more: str) -> list[str]:
        return ["claude", "-p", prompt, "--allowedTools", "Bash", "Write", "Edit", "Read", "Task", "Agent", *more]

    def logs(self) -> list[Path]:
        found = (self.home / ".claude" / "projects").glob("*/*.jsonl")
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)


class Codex(Agent):
    """Codex, without a screen."""

    program = "codex"
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

    program = "opencode"

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
        settings = {"provider": {"fake": provider}, "model": "fake/fake-1", "autoupdate": False, "share": "disabled"}
        (self.project / "opencode.json").write_text(json.dumps(settings))
        return ["opencode", "run", *more, prompt]

    def logs(self) -> list[Path]:
        return sorted((self.home / ".local" / "share" / "opencode").glob("opencode.db"))


class Qwen(Agent):
    """Qwen Code, without a screen."""

    program = "qwen"

    def environment(self) -> dict[str, str]:
        told = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_MODEL": "fake-1"}
        return {**super().environment(), **told}

    def command(self, prompt: str, *more: str) -> list[str]:
        place = self.home / ".qwen"
        place.mkdir(exist_ok=True)
        settings = {
            "security": {"auth": {"selectedType": "openai"}},
            "general": {"disableAutoUpdate": True},
            "privacy": {"usageStatisticsEnabled": False},
        }
        if not (place / "settings.json").exists():
            (place / "settings.json").write_text(json.dumps(settings))
        return ["qwen", "-p", prompt, "--yolo", "--auth-type", "openai", *more]

    def logs(self) -> list[Path]:
        return sorted((self.home / ".qwen" / "projects").glob("*/chats/*.jsonl"))


class Pi(Agent):
    """pi, without a screen."""

    program = "pi"

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "PI_OFFLINE": "1"}

    def command(self, prompt: str, *more: str) -> list[str]:
        place = self.home / ".pi" / "agent"
        place.mkdir(parents=True, exist_ok=True)
        free = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        model = {
            "id": "fake-1",
            "name": "fake",
            "reasoning": False,
            "input": ["text"],
            "cost": free,
            "contextWindow": 40_000,
            "maxTokens": 4000,
        }
        provider = {"baseUrl": f"{self.url}/v1", "api": "openai-completions", "apiKey": "none", "models": [model]}
        (place / "models.json").write_text(json.dumps({"providers": {"fake": provider}}))
        return ["pi", "-p", prompt, "--provider", "fake", "--model", "fake-1", *more]

    def logs(self) -> list[Path]:
        return sorted((self.home / ".pi" / "agent" / "sessions").glob("*/*.jsonl"))


class Cline(Agent):
    """Cline's command line, without a screen."""

    program = "cline"
    lingers = 90.0

    def command(self, prompt: str, *more: str) -> list[str]:
        known = ("--provider", "openai", "--apikey", "none", "--modelid", "fake-1")
        subprocess.run(
            ["cline", "auth", *known, "--baseurl", f"{self.url}/v1"],
            env=self.environment(),
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LONGEST,
        )
        return ["cline", "--yolo", *more, prompt]

    def logs(self) -> list[Path]:
        return sorted((self.home / ".cline" / "data" / "sessions").glob("*/*.messages.json"))


if __name__ == "__main__":
    install()
