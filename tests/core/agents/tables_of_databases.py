"""Databases as Crush and Goose make them, filled by tests."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

CRUSH = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,
    message_count INTEGER NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0,
    updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,
    parts TEXT NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT);
CREATE INDEX idx_messages_session_id ON messages (session_id);
CREATE INDEX idx_messages_created_at ON messages (created_at);
"""
GOOSE = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, session_type TEXT NOT NULL DEFAULT 'user',
    working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP, model_config_json TEXT,
    total_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);
CREATE INDEX idx_messages_session ON messages (session_id);
"""


def made(path: Path, schema: str, *, wal: bool = False) -> sqlite3.Connection:
    """A new database."""
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path)
    if wal:
        database.execute("PRAGMA journal_mode = WAL")
    database.executescript(schema)
    database.commit()
    return database


def put(database: sqlite3.Connection, table: str, *given: dict[str, Any]) -> None:
    """Add rows, or change those that are there; lists and objects become JSON."""
    for row in given:
        told = {name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in row.items()}
        marks = ", ".join("?" * len(told))
        statement = f"INSERT OR REPLACE INTO {table} ({', '.join(told)}) VALUES ({marks})"  # noqa: S608
        database.execute(statement, tuple(told.values()))
    database.commit()
