"""Questions to a dataset, in SQL or by name, answered by DuckDB, which may read nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from core.errors import UsageError
from core.extras import needed
from core.extras.batch.dataset import Dataset
from core.extras.batch.shares import TABLES


class Question(NamedTuple):
    """A question that many have."""

    about: str
    sql: str


QUESTIONS: dict[str, Question] = {
    "failing-tools": Question(
        "which tools and programs fail most",
        """SELECT agent, tool, program, count(*) AS calls,
                  count(*) FILTER (outcome = 'failure') AS failures,
                  round(count(*) FILTER (outcome = 'failure') / count(*), 3) AS share
           FROM events WHERE kind = 'tool_use' GROUP BY ALL HAVING failures > 0
           ORDER BY failures DESC, calls, agent, tool, program LIMIT 30""",
    ),
    "cost-by-project": Question(
        "what each project cost, as far as prices are known",
        """SELECT project, count(*) AS sessions, round(sum(cost), 2) AS usd, sum(unpriced) AS unpriced_turns,
                  sum(output_tokens) AS output_tokens
           FROM sessions GROUP BY project ORDER BY usd DESC NULLS LAST, project LIMIT 50""",
    ),
    "stuck-when": Question(
        "at which hour (UTC) calls are made while stuck",
        """SELECT hour("at") AS hour, count(*) AS calls, count(*) FILTER (state = 'stuck') AS stuck,
                  round(count(*) FILTER (state = 'stuck') / count(*), 3) AS share
           FROM events WHERE kind = 'tool_use' GROUP BY hour ORDER BY hour""",
    ),
    "first-edit": Question(
        "how long it takes from the first prompt to the first edit that worked",
        """WITH first AS (SELECT session_id, agent, min("at") FILTER (kind = 'prompt') AS asked,
                   min("at") FILTER (action = 'file_edit' AND outcome = 'success') AS edited
               FROM events GROUP BY session_id, agent)
           SELECT agent, count(edited) AS sessions,
                  round(median(epoch(edited) - epoch(asked)), 1) AS median_seconds,
                  round(quantile_cont(epoch(edited) - epoch(asked), 0.9), 1) AS p90_seconds
           FROM first WHERE edited >= asked GROUP BY agent ORDER BY agent""",
    ),
    "signals": Question(
        "what fired, how often and in how many sessions",
        """SELECT kind, name, count(*) AS times, count(DISTINCT session_id) AS sessions
           FROM signals GROUP BY kind, name ORDER BY times DESC, kind, name""",
    ),
    "hot-files": Question(
        "which files were edited most, and how often a call on them failed",
        """SELECT target, count(*) FILTER (action = 'file_edit') AS edits,
                  count(*) FILTER (outcome = 'failure') AS failures, count(DISTINCT session_id) AS sessions
           FROM (SELECT unnest(targets) AS target, action, outcome, session_id FROM events)
           GROUP BY target ORDER BY edits DESC, target LIMIT 30""",
    ),
}


class QueryResult(NamedTuple):
    """Names of columns, and rows."""

    names: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def ask(folder: Path, question: str) -> QueryResult:
    """Answer a question by its name or in SQL."""
    duckdb = needed("duckdb", "batch")
    if Dataset(folder).about() is None:
        raise UsageError(f"{folder} contains no dataset; create one with: nooscope analyze TREE --parquet FOLDER")
    if question not in QUESTIONS and not any(map(str.isspace, question.strip())):
        raise UsageError(f"no question is named {question!r}; available: {', '.join(QUESTIONS)}; or write SQL")
    sql = QUESTIONS[question].sql if question in QUESTIONS else question
    place = str(folder.resolve()).replace("'", "''")
    with duckdb.connect(":memory:") as base:
        try:
            for table in TABLES:
                base.execute(_view(table, place, any((folder / table).glob("*/*/*.parquet"))))
            base.execute(f"SET allowed_directories = ['{place}/']")
            base.execute("SET enable_external_access = false")
            base.execute("SET lock_configuration = true")
            statements = base.extract_statements(sql)
            if len(statements) != 1 or statements[0].type not in (
                duckdb.StatementType.SELECT,
                duckdb.StatementType.EXPLAIN,
            ):
                raise UsageError("write one query that begins with SELECT, WITH, FROM, DESCRIBE or EXPLAIN")
            result = base.execute(statements[0])
            names = tuple(each[0] for each in result.description or ())
            return QueryResult(names, result.fetchall())
        except duckdb.Error as fault:
            raise UsageError(f"{fault}\nThe tables are {', '.join(TABLES)}.") from None


def _view(table: str, place: str, filled: bool) -> str:
    if filled:
        files = f"read_parquet('{place}/{table}/*/*/*.parquet', hive_partitioning = true, union_by_name = true)"
        return f"CREATE VIEW {table} AS SELECT * FROM {files}"  # noqa: S608 our own names
    columns = ", ".join(f'NULL::{col.type} AS "{col.name}"' for col in TABLES[table])
    return f"CREATE VIEW {table} AS SELECT {columns}, NULL::VARCHAR AS agent, NULL::DATE AS day WHERE false"
