"""`nooscope doctor`: whether everything works here, and what to do if not."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.options import add_settings_options, settings_from

if TYPE_CHECKING:
    from core.report.checkup import Section
    from core.settings import Settings
    from core.settings.layers import Resolved

_SIGNS = {"fine": " ", "note": "·", "problem": "▲"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")
    help_text = "delete the stored starting states of watched sessions"
    parser.add_argument("--forget-given", action="store_true", help=help_text)
    add_settings_options(parser)


def run(args: argparse.Namespace) -> int:
    from core.report import checkup

    if args.forget_given:
        from core.report.formatting import count
        from core.store.carry_over import CarryOverStore

        print(f"deleted the starting state of {count(CarryOverStore().clear(), 'session')}")
        return 0
    mended = checkup.chains()
    sections = [*_sections(args, _settings_in_force(args)), mended]
    problems = [problem for section in sections for problem in section.problems]
    if args.json:
        from core.report.formatting import readable_json

        facts = {section.name: section.facts for section in sections}
        print(readable_json({"fine": not problems, "problems": problems, **facts}))
    else:
        _print_text(sections, problems)
    return 1 if problems else 0


def _settings_in_force(args: argparse.Namespace) -> Resolved:
    """The settings in force; their faults are part of the report, but a wrong `--set` is wrong usage."""
    messages = io.StringIO()
    try:
        with contextlib.redirect_stderr(messages):
            return settings_from(args)
    except SystemExit:
        sys.stderr.write(messages.getvalue())
        raise


def _sections(args: argparse.Namespace, resolved: Resolved) -> Iterator[Section]:
    from core.agents.registry import make_kit
    from core.report import checkup
    from tui.cli.launch import hooks_section

    project = args.project or Path.cwd()
    ingest = resolved.settings.ingest
    yield checkup.versions()
    yield checkup.terminal_section(os.environ)
    yield checkup.agents(os.environ, Path.home(), ingest)
    kit = make_kit(ingest)
    yield checkup.models(kit.models, datetime.now(UTC).date())
    yield checkup.unread(os.environ, Path.home(), kit, ingest)
    yield checkup.record_kinds(os.environ, Path.home(), kit, ingest)
    yield hooks_section()
    yield _extensions()
    yield _narrator(resolved.settings)
    yield checkup.settings(resolved, project, _faults(args, resolved.settings))
    yield checkup.folders()
    shared = resolved.settings.response.persona.folder
    yield checkup.stored_state(Path(shared).expanduser() if shared else None)


def _extensions() -> Section:
    """Report installed extensions, and those that cannot be used."""
    from core.agents.registry import unusable_agents
    from core.export.exporters import exporters
    from core.extension.offers import extension_folder, find_offers
    from core.extension.registry import in_step, listening
    from core.live.notices import installed_channels
    from core.report.checkup import Finding, Section

    offers = find_offers()
    complaints = [*offers.complaints, *unusable_agents(), *exporters()[1], *installed_channels()[1]]
    complaints += [*listening()[1], *in_step().complaints]
    findings = [Finding(offer.name, f"{offer.kind}, {offer.origin}") for offer in offers.offers]
    if not findings:
        findings.append(Finding("none", f"no extension is installed, and none is in {extension_folder()}"))
    findings += [Finding("broken", text, "problem") for text in dict.fromkeys(complaints)]
    facts = [{"kind": offer.kind, "name": offer.name, "origin": offer.origin} for offer in offers.offers]
    return Section("extensions", tuple(findings), facts)


def _narrator(settings: Settings) -> Section:
    """Report whether a language model is enabled, and its cost today."""
    from time import time

    from core.extras.narrator.router import status_lines
    from core.report.checkup import Finding, Section
    from core.store.model_spend import SpendStore

    lines = status_lines(settings, SpendStore(), time())
    state = "on" if settings.narrator.on else "off"
    return Section("narrator", tuple(Finding(state, line) for line in lines), {"on": settings.narrator.on})


def _faults(args: argparse.Namespace, settings: Settings) -> list[str]:
    """Report problems of rule files, policies, themes and key bindings."""
    import themes
    from core.timeline.initial_state import configured_start
    from tui.keys import keymap_faults

    loaded = themes.load(themes.user_theme_folder())
    faults = [*configured_start(args.project).faults, *loaded.complaints]
    faults += keymap_faults(settings.screen.keymap)
    missing = themes.missing_theme(settings.screen.theme, loaded)
    return [*faults, f"screen.theme: {missing}"] if missing else faults


def _print_text(sections: list[Section], problems: list[str]) -> None:
    from core.report.formatting import count

    for section in sections:
        print(section.name)
        width = min(18, max(len(each.label) for each in section.findings))
        for each in section.findings:
            print(f"{_SIGNS[each.level]} {each.label:<{width}}  {each.text}")
        print()
    print(f"{count(len(problems), 'problem')} (▲)" if problems else "All fine.")
