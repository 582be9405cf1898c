"""Settings of the loop back to the agent: what it is told, and what it needs a permit for."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.group import Group, Spec, higher

Address = Annotated[str, Spec(pattern=r"^$|^https?://\S+$", words="an address such as https://host/path")]
LocalAddress = Annotated[
    str, Spec(pattern=r"^$|^http://[^/\s]+:\d+/?$", words="an address such as http://10.0.0.5:8422")
]


class AdviceSettings(Group):
    """What an agent is told where its hooks were installed with --advise or --guard."""

    level: Annotated[
        Literal["off", "hint", "full"], Spec("Nothing, only loops and halts, or all that is due.")
    ] = "hint"
    urgent: Annotated[int, Spec("Priority from which a word counts as urgent for a hint.", 0, 255, 5)] = 200
    rest: Annotated[
        int, Spec("Acts for which a rule stays silent after it spoke; doubles each time.", 1, 1000, 1)
    ] = 10
    kept: Annotated[int, Spec("Sentences remembered so that none is said twice.", 10, 10_000, 10)] = 500
    silence: Annotated[
        float,
        Spec("Share of advice withheld at random, to measure whether it helps; 0 for none.", 0, 0.9, 0.1),
    ] = 0.0
    seed: Annotated[
        int, Spec("Seed of that chance; the same one withholds the same advice.", 0, 10**9, 1)
    ] = 0
    within: Annotated[
        int, Spec("Acts within which the same trouble counts as having come back.", 1, 200, 1)
    ] = 10


class GuardSettings(Group):
    """What an agent under --guard needs a permit for."""

    read: Annotated[tuple[str, ...], Spec("Further tools that only read, by name or pattern.")] = ()
    write: Annotated[tuple[str, ...], Spec("Further tools that write, by name or pattern.")] = ()
    privileged: Annotated[tuple[str, ...], Spec("Further tools that need you, by name or pattern.")] = ()
    commands: Annotated[
        tuple[str, ...], Spec("Patterns of commands that need you, beside destructive ones.")
    ] = ("sudo *", "su *", "doas *", "chmod -R *", "chown -R *", "* | sh", "* | bash", "npm publish*")
    paths: Annotated[tuple[str, ...], Spec("Patterns of paths whose writing needs you.")] = (
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
    )
    lifetime: Annotated[float, Spec("How long a permit holds.", 1, 3600, 5, "s")] = 120.0
    wait: Annotated[
        float, Spec("How long a call waits for your answer before the agent asks itself.", 0, 500, 1, "s")
    ] = 20.0
    steps: Annotated[bool, Spec("A halt for the number of steps alone stops writing too.")] = False
    tool_trust: Annotated[
        float,
        Spec(
            "Trust a call needs, by the model's own reckoning, from which on writing needs you.", 0, 1, 0.05
        ),
    ] = 0.6
    quarantine: Annotated[
        bool, Spec("A call that would write is put to you while the agent's affect is quarantined.")
    ] = True
    executing: Annotated[
        bool, Spec("A call that would write is put to you while the agent lacks the confidence to execute.")
    ] = True
    budget: Annotated[
        float,
        Spec(
            "Share of the budget left at or below which writing needs you.", 0, 1, 0.05, project=higher(0.5)
        ),
    ] = 0.0


class CapSettings(Group):
    """How much agents may spend; without --guard hooks a cap can warn but not hold anything."""

    session_dollars: Annotated[
        float, Spec("What one session may cost; 0 for no cap.", 0, 100_000, 1, "$")
    ] = 0.0
    session_tokens: Annotated[
        int, Spec("Tokens one session may use, sent and received; 0 for no cap.", 0, 10**12, 100_000)
    ] = 0
    all_dollars: Annotated[
        float, Spec("What all sessions with hooks may cost in a day; 0 for no cap.", 0, 100_000, 1, "$")
    ] = 0.0
    all_tokens: Annotated[
        int, Spec("Tokens all sessions with hooks may use in a day; 0 for no cap.", 0, 10**12, 100_000)
    ] = 0
    warn: Annotated[float, Spec("Share of a cap from which on you are warned.", 0.1, 1, 0.05)] = 0.8
    burn: Annotated[
        float,
        Spec(
            "Token use, in multiples of your normal, from which on you are warned; 0 for never.", 0, 1000, 1
        ),
    ] = 10.0
    reached: Annotated[
        Literal["ask", "stop"], Spec("At a cap, hold each call and ask you, or end the turn (Claude Code).")
    ] = "ask"


class PhoneSettings(Group):
    """Answering an agent from a phone or another machine; off until an address is set."""

    address: Annotated[
        LocalAddress,
        Spec("This machine's address for phones, such as http://10.0.0.5:8422; blank for none."),
    ] = ""
    ntfy: Annotated[
        Address, Spec("Address of the ntfy topic that gets a notice with buttons; blank for none.")
    ] = ""
    words: Annotated[bool, Spec("Notices and pages show the command or question, not only the tool.")] = False
    lifetime: Annotated[float, Spec("How long a link works.", 10, 86_400, 60, "s")] = 600.0
