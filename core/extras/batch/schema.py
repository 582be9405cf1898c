"""The tables of a dataset and their columns, each with its DuckDB type and one sentence."""

from __future__ import annotations

from typing import NamedTuple

from core.engine.percept import AXES

VERSION = 1
"""Raised whenever a column changes its meaning; columns are otherwise only added."""


class Col(NamedTuple):
    """One column."""

    name: str
    type: str
    about: str


_SESSION = Col("session_id", "VARCHAR", "Hash of agent and session, the same on every machine.")
_EVENT = Col("event_id", "VARCHAR", "Hash of session and event, the same whenever its log is read again.")
_AT = Col("at", "TIMESTAMP", "When, in UTC.")
_WHO = Col("who", "VARCHAR", "`main`, or the sub-agent's id.")

TABLES: dict[str, tuple[Col, ...]] = {
    "sessions": (
        _SESSION,
        Col("session", "VARCHAR", "The agent's own id of it."),
        Col("path", "VARCHAR", "Its main log."),
        Col("project", "VARCHAR", "The folder it worked in."),
        Col("models", "VARCHAR[]", "Models that answered."),
        Col("started", "TIMESTAMP", "First event."),
        Col("ended", "TIMESTAMP", "Last event."),
        Col("active", "DOUBLE", "Subjective seconds of the main agent."),
        Col("synthetic_time", "BOOLEAN", "The log holds no times; ours are made up."),
        Col("events", "BIGINT", "Events of all agents."),
        Col("prompts", "BIGINT", "Prompts of the person."),
        Col("interrupts", "BIGINT", "Times the person stopped it."),
        Col("turns", "BIGINT", "Answers of models."),
        Col("tool_uses", "BIGINT", "Calls."),
        Col("failures", "BIGINT", "Calls that failed."),
        Col("compactions", "BIGINT", "Compactions."),
        Col("subagents", "BIGINT", "Sub-agents."),
        Col("input_tokens", "BIGINT", "Tokens sent, cached ones left out."),
        Col("output_tokens", "BIGINT", "Tokens written."),
        Col("cache_read", "BIGINT", "Tokens read from cache."),
        Col("cache_write", "BIGINT", "Tokens written to cache."),
        Col("cost", "DOUBLE", "US dollars of the turns whose price is known; null where none is."),
        Col("unpriced", "BIGINT", "Turns whose price is unknown."),
        Col("halts", "BIGINT", "Times the governor would have stopped it."),
        Col("loops", "BIGINT", "Loops recognised (500 at most are counted)."),
        Col("skipped", "BIGINT", "Lines that could not be read."),
    ),
    "events": (
        _EVENT,
        _SESSION,
        Col("n", "BIGINT", "Its place in the session, from 0."),
        _AT,
        _WHO,
        Col("kind", "VARCHAR", "As in the open event format."),
        Col("tool", "VARCHAR", "The tool's name, as the agent wrote it."),
        Col("action", "VARCHAR", "What a call does."),
        Col("outcome", "VARCHAR", "How it ended."),
        Col("purpose", "VARCHAR", "What a shell command is for."),
        Col("program", "VARCHAR", "What runs in a shell command."),
        Col("targets", "VARCHAR[]", "Paths, relative to the project."),
        Col("duration", "DOUBLE", "Seconds from call to result."),
        Col("exit_code", "BIGINT", "Of a shell command."),
        Col("size", "BIGINT", "Characters of the result, or of the prompt."),
        Col("shape", "VARCHAR", "Fingerprint that near-duplicate calls share."),
        Col("model", "VARCHAR", "Model of a turn."),
        Col("input_tokens", "BIGINT", "Of a turn."),
        Col("output_tokens", "BIGINT", "Of a turn."),
        Col("cache_read", "BIGINT", "Of a turn."),
        Col("cache_write", "BIGINT", "Of a turn."),
        Col("context_tokens", "BIGINT", "All the model had before it."),
        Col("cost", "DOUBLE", "US dollars of a turn; null where the price is unknown."),
        Col("state", "VARCHAR", "The agent's state after the event."),
        Col("pattern", "VARCHAR", "How it works at that moment."),
        Col("regime", "VARCHAR", "calm, progress, turbulence or crisis."),
        *(Col(axis, "DOUBLE", f"The axis {axis} after the event, 0 to 1.") for axis in AXES),
    ),
    "ticks": (
        _SESSION,
        _WHO,
        Col("tick", "BIGINT", "Number of the tick."),
        Col("kind", "VARCHAR", "gamma, theta or delta."),
        _AT,
        Col("deliberate_seconds", "DOUBLE", "Time the model took."),
        Col("act_seconds", "DOUBLE", "Time the tools took."),
        Col("cost", "DOUBLE", "US dollars since the last tick."),
        Col("tokens_used", "BIGINT", "Of the context."),
        Col("tokens_budget", "BIGINT", "Context tokens at which a compaction is due; 0 where unknown."),
        Col("accuracy_change", "DOUBLE", "Of the forecast of outcomes."),
        Col("regime", "VARCHAR", "calm, progress, turbulence or crisis."),
        Col("actions", "BIGINT", "Calls since the last tick."),
        Col("sleep_pressure", "DOUBLE", "Need to consolidate, 0 to 1."),
    ),
    "signals": (
        _EVENT,
        _SESSION,
        _AT,
        _WHO,
        Col("kind", "VARCHAR", "signal, loop, halt, advice or quarantine."),
        Col("name", "VARCHAR", "Which one: a signal, a detector, a reason, a method."),
        Col("value", "DOUBLE", "Intensity, count, step or score."),
    ),
}
PARTITIONS = (
    Col("agent", "VARCHAR", "The program, such as claude-code; a folder of the dataset."),
    Col("day", "DATE", "Day in UTC; a folder of the dataset."),
)
