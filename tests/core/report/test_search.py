"""Words in all sessions: found where they stand, without secrets, and from where a log grew."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.agents.record_texts import LONGEST, bounded, raw_texts, record_time
from core.errors import StoreError, UsageError
from core.report.log_tree import LogTree
from core.report.search import Hit, fill_index, fts_query, search, snippet
from core.settings import Settings
from core.store.reading_cache import Narrowed, WordIndex
from tests.core.logs import log_lines as logs

SECRET = "sk-" + "ant-api03-" + "Qx7" * 12


class Library:
    """A folder of logs with an index of their words."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "logs"
        self.folder.mkdir()
        self.index = WordIndex(root / "cache" / "words.db")

    def put(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def fill(self) -> int:
        """Bring the index up to date as a new process would; how many logs were read."""
        tree = LogTree(Settings(), None)
        return fill_index(self.index, tree, tree.sessions([self.folder]), lambda _number, _total: None)

    def find(self, *words: str, most: int = 20, **narrowed: object) -> list[Hit]:
        return search(self.index, words, Narrowed(**narrowed), most)  # type: ignore[arg-type]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def test_coloured_words_are_found_and_shown_without_their_colours(library: Library) -> None:
    torn = SECRET[:12] + "\x1b[1m" + SECRET[12:]
    library.put(
        "s-1.jsonl",
        logs.prompt(0, "go on")
        + logs.call(1, "t1")
        + logs.result(2, "t1", f"\x1b[31mFAILED\x1b[0m gate \x1b[1;32mopen\x1b[m {torn}", error=True),
    )
    library.fill()
    [hit] = library.find("failed", "open")
    assert hit.snippet.startswith("FAILED gate open ")
    assert SECRET[12:] not in hit.snippet and "[1m" not in hit.snippet
    assert library.find("31mfailed") == []


def test_words_are_found_with_who_said_them_and_where(library: Library) -> None:
    path = library.put(
        "s-1.jsonl",
        logs.prompt(0, "migrate the Billing service")
        + logs.call(1, "t1", arguments={"command": "npm test -- src/billing.spec.ts"})
        + logs.result(2, "t1", "FAIL src/billing.spec.ts: expected 200, got 404", error=True),
    )
    assert library.fill() == 1
    asked, called, answered = (library.find(*words)[0] for words in (["migrate"], ["npm", "test"], ["got", "404"]))
    assert (asked.speaker, called.speaker, answered.speaker) == ("asked", "call", "result")
    assert answered.snippet == "FAIL src/billing.spec.ts: expected 200, got 404"
    assert (asked.session, asked.agent, asked.project) == ("s-1", "claude-code", "/srv/project")
    assert asked.title == "migrate the Billing service"
    assert asked.path == str(path)
    assert answered.place == logs.stamp(2)
    assert [hit.speaker for hit in library.find("billing")] == ["result", "call", "asked"], "the latest first"


@pytest.mark.parametrize("word", ["billing.spec.ts", "src/billing.spec.ts", "spec", "billing", "BILL", "src"])
def test_names_are_found_by_their_parts(library: Library, word: str) -> None:
    library.put("s-1.jsonl", logs.prompt(0, "look at src/billing.spec.ts."))
    library.fill()
    assert len(library.find(word)) == 1


def test_a_key_that_begins_long_before_the_words_is_not_shown(library: Library) -> None:
    lines = "\n".join(f"{number:04}" + "Zm9vYmFy" * 7 for number in range(100))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----"
    library.put("s-1.jsonl", logs.prompt(0, f"look: {key}\nand then deploy it {'again ' * 2000}"))
    library.fill()
    (hit,) = library.find("deploy")
    assert "Zm9v" not in hit.snippet
    assert "<redacted> and then deploy it again" in hit.snippet


def test_a_long_token_that_ends_beside_the_words_is_not_shown(library: Library) -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJ" + "c3ViMTIz" * 500 + ".c2ln"
    library.put("s-1.jsonl", logs.prompt(0, f"{'before ' * 1000}{token} deploy {'after ' * 1000}"))
    library.fill()
    (hit,) = library.find("deploy")
    assert "c3Vi" not in hit.snippet
    assert "<redacted> deploy after" in hit.snippet


def test_words_that_stand_in_a_secret_too_are_shown_where_one_may_read_them(library: Library) -> None:
    library.put("s-1.jsonl", logs.prompt(0, f"password=Deploy9x7Kq2 {'x ' * 3000}then deploy"))
    library.fill()
    (hit,) = library.find("deploy")
    assert hit.snippet.endswith("then deploy")


def test_a_title_told_at_every_turn_is_found_once(library: Library) -> None:
    titles = [
        logs.prompt(number, f"step {number} of ten") + logs.line(number, type="ai-title", aiTitle="Mend sums")
        for number in range(20)
    ]
    library.put("s-1.jsonl", b"".join(titles))
    library.fill()
    assert len(library.find("mend")) == 1
    assert len(library.find("step")) == 20


def test_a_queued_prompt_is_found_once_as_what_the_person_asked(library: Library) -> None:
    queued = logs.line(1, type="queue-operation", operation="enqueue", content="mend the sums")
    repeated = logs.line(3, type="last-prompt", lastPrompt="mend the sums")
    library.put("s-1.jsonl", queued + logs.prompt(2, "mend the sums") + repeated)
    library.fill()
    (found,) = library.find("mend")
    assert found.speaker == "asked"


def test_a_phrase_and_all_words(library: Library) -> None:
    library.put("s-1.jsonl", logs.prompt(0, "drop the legacy table") + logs.prompt(5, "the table is legacy"))
    library.fill()
    assert len(library.find("legacy", "table")) == 2
    assert [hit.at for hit in library.find("legacy table")] == [logs.START]
    assert library.find("legacy", "absent") == []


def test_no_secret_is_in_the_index_or_shown(library: Library) -> None:
    library.put("s-1.jsonl", logs.prompt(0, f"the key is {SECRET} for deploy"))
    library.fill()
    (hit,) = library.find("deploy")
    assert hit.snippet == "the key is <redacted> for deploy"
    assert library.find(SECRET) == []
    assert SECRET.encode() not in library.index.path.read_bytes()
    assert SECRET.lower().encode() not in library.index.path.read_bytes()


def test_no_argument_with_a_secrets_name_is_in_the_index_or_shown(library: Library) -> None:
    word = "hunter" + "two"
    given = {
        "host": "example",
        "password": word,
        "auth": {"token": f"{word}2"},
        "env": [{"name": "DB_PASSWORD", "value": f"{word}3"}],
        "argv": ["sshpass", "-p", f"{word}4"],
        "body": f'{{"apiKey": "{word}5"}}',
    }
    library.put("s-1.jsonl", logs.call(0, "t", "mcp__db__connect", given) + logs.result(1, "t", "fine"))
    library.fill()
    assert [hit.snippet for hit in library.find("example")] == ["example"]
    assert library.find("hunter") == []
    assert word.encode() not in library.index.path.read_bytes()


def test_only_what_was_added_is_read(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    first = logs.prompt(0, "alpha")
    path = library.put("s-1.jsonl", first)
    assert (library.fill(), library.fill()) == (1, 0)
    taken: list[int] = []
    from core.logs.records import records as read
    from core.report import search as module

    def counting(log: object, *rest: object) -> object:
        for record in read(log, *rest):  # type: ignore[arg-type]
            taken.append(record.where.offset)
            yield record

    monkeypatch.setattr(module, "records", counting)
    path.write_bytes(first + logs.prompt(9, "beta"))
    assert library.fill() == 1
    assert taken == [len(first)]
    assert [len(library.find(word)) for word in ("alpha", "beta")] == [1, 1]
    path.write_bytes(logs.prompt(0, "gamma") + logs.prompt(3, "delta") * 3)
    assert library.fill() == 1
    assert [len(library.find(word)) for word in ("alpha", "beta", "gamma")] == [0, 0, 1]


def test_a_line_that_is_not_whole_is_left_for_later(library: Library) -> None:
    last = logs.prompt(9, "omega point")
    path = library.put("s-1.jsonl", logs.prompt(0, "alpha") + last[:-20])
    library.fill()
    assert library.find("omega") == []
    path.write_bytes(logs.prompt(0, "alpha") + last)
    library.fill()
    assert [hit.snippet for hit in library.find("omega")] == ["omega point"]
    assert len(library.find("alpha")) == 1


def test_objects_on_one_line_are_found_each_at_its_place(library: Library) -> None:
    first, second, half = (logs.prompt(0, "alpha").strip(), logs.prompt(9, "omega point").strip(), b'{"type":"us')
    path = library.put("s-1.jsonl", first)
    library.fill()
    path.write_bytes(first + second + half + b"\n")
    library.fill()
    grown = [library.find(word) for word in ("alpha", "omega")]
    path.write_bytes(first + b" " + second + half + b"\n" + logs.prompt(10, "last"))
    library.fill()
    assert [[hit.snippet for hit in found] for found in grown] == [["alpha"], ["omega point"]]
    assert [[hit.snippet for hit in library.find(word)] for word in ("alpha", "omega", "last")] == [
        ["alpha"],
        ["omega point"],
        ["last"],
    ]


def test_a_log_that_went_away_is_not_found(library: Library) -> None:
    path = library.put("s-1.jsonl", logs.prompt(0, "alpha"))
    library.put("s-2.jsonl", logs.prompt(50, "beta", session="s-2"))
    library.fill()
    path.unlink()
    library.fill()
    assert library.find("alpha") == []
    assert len(library.find("beta")) == 1


def test_results_are_narrowed(library: Library) -> None:
    library.put("s-1.jsonl", logs.prompt(0, "alpha", cwd="/srv/one"))
    library.put("s-2.jsonl", logs.prompt(500, "alpha", session="s-2", cwd="/srv/Two"))
    library.fill()
    assert [hit.session for hit in library.find("alpha")] == ["s-2", "s-1"]
    assert [hit.session for hit in library.find("alpha", project="two")] == ["s-2"]
    assert [hit.session for hit in library.find("alpha", since=logs.START + 500)] == ["s-2"]
    assert library.find("alpha", since=logs.START + 500.1) == []
    assert library.find("alpha", agent="codex") == []
    assert len(library.find("alpha", agent="claude-code")) == 2
    assert [hit.session for hit in library.find("alpha", main=(str(library.folder / "s-1.jsonl"),))] == ["s-1"]
    assert len(library.find("alpha", most=1)) == 1


def test_a_document_is_found_by_its_entries(library: Library) -> None:
    library.put("chats/session-1.json", logs.gemini(2))
    library.fill()
    (hit,) = library.find("go")
    assert (hit.agent, hit.snippet, hit.at) == ("gemini", "go", logs.START + 1)


def test_an_index_of_another_version_or_damaged_is_made_again(library: Library) -> None:
    library.put("s-1.jsonl", logs.prompt(0, "alpha"))
    library.fill()
    library.index.path.write_bytes(b"no database at all, not even nearly so" * 200)
    with pytest.raises(StoreError, match="search again"):
        library.fill()
    assert library.fill() == 1
    assert len(library.find("alpha")) == 1
    assert library.index.clear() and not library.index.clear()
    assert library.find("alpha") == []


@pytest.mark.parametrize("words", [[], [""], ['"'], ["*", "()"]])
def test_a_query_needs_a_word(words: list[str]) -> None:
    with pytest.raises(UsageError, match="at least one word"):
        fts_query(words)


@pytest.mark.parametrize("word", ['a"b', "NEAR(", "x AND y", "col:umn", "-dash", "l*", "ünï"])
def test_no_word_is_taken_for_a_query_language(library: Library, word: str) -> None:
    library.put("s-1.jsonl", logs.prompt(0, "alpha"))
    library.fill()
    assert library.find(word) == []


def test_a_snippet_shows_where_most_words_stand_together() -> None:
    text = "found " + "x " * 200 + "it was not found here"
    assert "not found" in snippet(text, ["not", "found"])
    assert snippet("a\x1b[31mb word\nnext", ["word"]) == "a [31mb word next"
    assert snippet("", ["word"]) == ""


def test_long_texts_keep_both_ends_and_hide_what_is_cut() -> None:
    key = "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIEvQ" * 700 + "\n-----END " + "PRIVATE KEY-----"
    text = "begin " + "word " * 3000 + key + " middle " * 300 + "end"
    short = bounded(text)
    assert short.startswith("begin") and short.endswith("end")
    assert len(short) <= LONGEST + 1
    assert "MIIEvQ" not in bounded("word " * 3000 + key + " middle " * 100)


def test_thoughts_pictures_and_ids_are_no_words() -> None:
    data = logs.line(
        0,
        type="assistant",
        message={
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hidden"},
                {"type": "image", "source": {"data": "QUJD"}},
                {"type": "text", "text": "shown"},
            ],
        },
    )
    assert [(one.speaker, one.text) for one in raw_texts(data)] == [("said", "shown")]
    assert raw_texts(b"") == [] and raw_texts(b"\0\0") == []


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ({"timestamp": "1970-01-01T00:00:05Z"}, 5.0),
        ({"info": {"time": {"created": 7000}}}, 7000.0),
        ([], None),
        ({}, None),
    ],
)
def test_the_time_of_a_record(value: object, at: float | None) -> None:
    assert record_time(value) == at


def test_what_the_program_sends_to_the_model_again_is_not_found_twice(tmp_path: Path) -> None:
    library = Library(tmp_path)
    message = {"role": "user", "content": [{"type": "text", "text": "mend the pelican"}]}
    copies = [
        logs.line(2, type="api-request-blob", hash="h", message=message),
        logs.line(3, type="api-request-shape", shape={"system": [{"type": "text", "text": "be a pelican"}]}),
        logs.line(4, type="attachment", attachment={"type": "prompt_snapshot", "systemPrompt": ["be a pelican"]}),
    ]
    library.put("a/s.jsonl", logs.prompt(1, "mend the pelican") + b"".join(copies))
    library.fill()
    assert [hit.snippet for hit in library.find("pelican")] == ["mend the pelican"]
