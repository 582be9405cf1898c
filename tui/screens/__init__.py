"""Screens."""

from __future__ import annotations

# Every screen over the main one: its class, and what it shows in words people look for.
SCREENS: dict[str, tuple[str, str]] = {
    "transcript": (
        "transcript.TranscriptScreen",
        "conversation, log, history, messages: everything that was asked, done and answered",
    ),
    "changes": ("changes.ChangesScreen", "diff, files, edits: what this session changed up to the playhead"),
    "recap": ("recap.RecapScreen", "summary, report, outcome: what happened and what came of it"),
    "fleet": ("fleet.FleetScreen", "sessions, list, home, overview: all sessions on this machine; compare two of them"),
    "agents": ("model.AgentsScreen", "sub-agents, workers: task, status, last action, cost"),
    "find": ("word_search.WordSearchScreen", "search everywhere, grep: find text in all sessions"),
    "tuning": (
        "bench.TuningScreen",
        "settings, thresholds, options, what if, bench: what would have fired with other values",
    ),
    "mind": ("model.MindScreen", "model: emotion, clock, sleep, dreams, memory, spending"),
    "governor": ("model.GovernorScreen", "model: effort, budgets, limits, why it would halt"),
    "affect": ("model.AffectScreen", "model: affect fields, quarantine, mood of sub-agents"),
    "response": ("model.ResponseScreen", "model: outlook, prediction, advice, memo, loops"),
    "branches": ("branches.BranchScreen", "model: branches of the conversation, rewind, message preview, dream"),
    "extensions": ("model.ExtensionsScreen", "plugins: what is installed beside nooscope, its panels and its faults"),
    "help": ("help.HelpScreen", "keys, shortcuts, manual, what each panel means"),
}
