"""Settings of the loop back to the agent: what it is told, and what it needs a permit for."""

from __future__ import annotations

from typing import Literal

from core.settings.trust import PERSON, higher
from core.settings.tunable import Group, tunable


class AdviceSettings(Group, project=PERSON):
    """What an agent is told where its hooks were installed with --advise or --guard."""

    level: Literal["off", "hint", "full"] = tunable(
        "hint", "Nothing, only loops and halts, or all that is due."
    )
    urgent: int = tunable(
        200, "Priority from which a word counts as urgent for a hint.", ge=0, le=255, step=5
    )
    rest: int = tunable(
        10, "Acts for which a rule stays silent after it spoke; doubles each time.", ge=1, le=1000, step=1
    )
    kept: int = tunable(500, "Sentences remembered so that none is said twice.", ge=10, le=10_000, step=10)
    silence: float = tunable(
        0.0,
        "Share of advice withheld at random, to measure whether it helps; 0 for none.",
        ge=0,
        le=0.9,
        step=0.1,
    )
    seed: int = tunable(
        0, "Seed of that chance; the same one withholds the same advice.", ge=0, le=10**9, step=1
    )
    within: int = tunable(
        10, "Acts within which the same trouble counts as having come back.", ge=1, le=200, step=1
    )


class GuardSettings(Group, project=PERSON):
    """What an agent under --guard needs a permit for."""

    read: tuple[str, ...] = tunable((), "Further tools that only read, by name or pattern.")
    write: tuple[str, ...] = tunable((), "Further tools that write, by name or pattern.")
    privileged: tuple[str, ...] = tunable((), "Further tools that need you, by name or pattern.")
    commands: tuple[str, ...] = tunable(
        ("sudo *", "su *", "doas *", "chmod -R *", "chown -R *", "* | sh", "* | bash", "npm publish*"),
        "Patterns of commands that need you, beside destructive ones.",
    )
    paths: tuple[str, ...] = tunable(
        (
            "*/.ssh/*",
            "*/.gnupg/*",
            "*/.env",
            ".env",
            "*/.git/*",
            ".git/*",
            "/etc/*",
            "*/.claude/settings*",
            "*/.codex/*",
            "*/nooscope/*",
        ),
        "Patterns of paths whose writing needs you.",
    )
    lifetime: float = tunable(120.0, "How long a permit holds.", ge=1, le=3600, step=5, unit="s")
    wait: float = tunable(
        20.0,
        "How long a call waits for your answer before the agent asks itself.",
        ge=0,
        le=500,
        step=1,
        unit="s",
    )
    steps: bool = tunable(False, "A halt for the number of steps alone stops writing too.")
    tool_trust: float = tunable(
        0.6,
        "Trust a call needs, by the model's own reckoning, from which on writing needs you.",
        ge=0,
        le=1,
        step=0.05,
    )
    quarantine: bool = tunable(
        True, "A call that would write is put to you while the agent's affect is quarantined."
    )
    executing: bool = tunable(
        True, "A call that would write is put to you while the agent lacks the confidence to execute."
    )
    budget: float = tunable(
        0.0,
        "Share of the budget left at or below which writing needs you.",
        ge=0,
        le=1,
        step=0.05,
        project=higher(0.5),
    )


class CapSettings(Group, project=PERSON):
    """How much agents may spend; without --guard hooks a cap can warn but not hold anything."""

    session_dollars: float = tunable(
        0.0, "What one session may cost; 0 for no cap.", ge=0, le=100_000, step=1, unit="$"
    )
    session_tokens: int = tunable(
        0, "Tokens one session may use, sent and received; 0 for no cap.", ge=0, le=10**12, step=100_000
    )
    all_dollars: float = tunable(
        0.0,
        "What all sessions with hooks may cost in a day; 0 for no cap.",
        ge=0,
        le=100_000,
        step=1,
        unit="$",
    )
    all_tokens: int = tunable(
        0, "Tokens all sessions with hooks may use in a day; 0 for no cap.", ge=0, le=10**12, step=100_000
    )
    warn: float = tunable(0.8, "Share of a cap from which on you are warned.", ge=0.1, le=1, step=0.05)
    burn: float = tunable(
        10.0,
        "Token use, in multiples of your normal, from which on you are warned; 0 for never.",
        ge=0,
        le=1000,
        step=1,
    )
    reached: Literal["ask", "stop"] = tunable(
        "ask", "At a cap, hold each call and ask you, or end the turn (Claude Code)."
    )
