"""The folder of a dataset: what it was made from, its shares, and questions about it in SQL or by name."""

from __future__ import annotations

import contextlib
import logging
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from core.errors import NooscopeError, UsageError
from core.extras import needed
from core.extras.batch.shares import SHARES, TABLES, VERSION, Written
from core.store import atomic

_NAME = "dataset.json"


class About(msgspec.Struct, frozen=True):
    """A dataset's description."""

    version: int
    shares: int
    tree: list[str]


class Dataset:
    """A folder that several processes may fill at once, each with its own shares."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def begin(self, tree: list[str]) -> None:
        """Create the dataset, or check that it was made from the same logs."""
        about = About(VERSION, SHARES, sorted(tree))
        stored = self.about()
        if stored is None:
            if self.folder.exists() and any(self.folder.iterdir()):
                raise UsageError(f"{self.folder} contains other files; name an empty folder")
            atomic.replace(self.folder / _NAME, msgspec.json.encode(about) + b"\n", atomic.AS_USUAL)
        elif stored != about:
            was = ", ".join(stored.tree)
            raise UsageError(f"{self.folder} was made from {was} (version {stored.version}); name another folder")

    def about(self) -> About | None:
        """The description of the dataset; None if there is none."""
        try:
            return msgspec.json.decode((self.folder / _NAME).read_bytes(), type=About)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as fault:
            raise NooscopeError(f"{self.folder / _NAME} cannot be read ({fault})") from None

    def put(self, written: Written) -> int:
        """Put the files of a share in place of those it had; the bytes."""
        new = {place for place, _ in written.files}
        for place, content in written.files:
            atomic.replace(self.folder / place, content, atomic.AS_USUAL)
        for table in TABLES:
            for path in self.folder.glob(f"{table}/*/*/share-{written.number:04d}.parquet"):
                if str(path.relative_to(self.folder)) not in new:
                    path.unlink()
        return sum(len(content) for _, content in written.files)


T = TypeVar("T")
_AGAIN = 3  # Times a share that failed is tried again.
_PATIENCE = 15


@contextlib.contextmanager
def cluster(address: str, workers: int) -> Iterator[Any]:
    """A client of the scheduler at an address; `local` starts a cluster on this machine."""
    distributed = needed("distributed", "batch")
    if address != "local" and "://" not in address:
        raise UsageError(f"--on takes local, or a scheduler such as tcp://host:8786, not {address!r}")
    with contextlib.ExitStack() as stack:
        at: Any = address
        if address == "local":
            at = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
                )
            )
        try:
            client = distributed.Client(at, timeout=_PATIENCE)
        except (OSError, TimeoutError) as fault:
            raise NooscopeError(f"cannot reach the scheduler at {address}: {fault}") from None
        yield stack.enter_context(client)


def done_by(client: Any, work: Callable[[Any], T], items: Sequence[Any]) -> Iterator[T]:
    """`work(item)` of every item, as they are done."""
    distributed = needed("distributed", "batch")
    futures = client.map(work, items, pure=False, retries=_AGAIN)
    for future in distributed.as_completed(futures):
        try:
            yield future.result()
        except Exception as fault:
            raise NooscopeError(f"a worker failed: {type(fault).__name__}: {fault}") from fault
        future.release()


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
        raise UsageError(
            f"{folder} contains no dataset; create one with: nooscope inspect analyze TREE --parquet FOLDER"
        )
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
