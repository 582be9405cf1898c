"""Which agents have hooks of ours, and whether somebody serves them."""

from __future__ import annotations

from core.agents.hooks import HOOKS
from core.intake.caller import call
from core.intake.place import default_place
from tui.cli.checkup import Finding, Section


def hooks() -> Section:
    """Each agent's hooks; those that nobody serves do nothing."""
    from tui.cli.commands.hooks import installer_here

    installer = installer_here()
    found = {name: installer.status(agent) for name, agent in HOOKS.items()}
    there = {name: one for name, one in found.items() if one.state == "installed"}
    findings = [Finding(name, f"{one.mode or 'installed'}, in {one.path}") for name, one in there.items()]
    if not there:
        findings.append(Finding("none", "no agent has hooks of ours; `nooscope hooks install` puts them in"))
    elif call(default_place(), "sessions", {}, 0.5) is None:
        findings.append(Finding("nobody", "serves them now; `nooscope listen` does", "note"))
    facts = [{"agent": name, "state": one.state, "mode": one.mode} for name, one in found.items()]
    return Section("hooks", tuple(findings), facts)
