"""Questions to a dataset, in SQL or by name, answered by DuckDB, which may read nothing else."""

from __future__ import annotations

import tomllib
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
    name: Question(**question)
    for name, question in tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8")).items()
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
