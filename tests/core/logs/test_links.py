"""Which record follows which, in every format that says so."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents import chat as chat
from core.agents import copilot as copilot
from core.agents import gemini as gemini
from core.agents import pi as pi
from core.agents.claude_code import reader as claude_code
from core.agents.codex import reader as codex
from core.agents.registry import make_kit
from core.events import Where
from core.logs.finder import sessions
from core.logs.format import Diagnostics
from core.logs.links import Link, links, parents_first, session_links
from core.logs.records import Log
from core.report.conversation import ConversationTree
from tests.core.logs.log_lines import START, call, line, prompt, result, stamp

KIT = make_kit()
FORMATS = {
    "claude-code": claude_code.FORMATS[0],
    "codex": codex.FORMATS[0],
    "copilot": copilot.FORMATS[0],
    "gemini": gemini.FORMATS[0],
    "pi": pi.FORMATS[0],
}


def read(path: Path, name: str, content: bytes | list[Any], agent: str = "main") -> list[Link]:
    if isinstance(content, list):
        content = b"".join(json.dumps(record).encode() + b"\n" for record in content)
    path.write_bytes(content)
    return list(links(Log(path, FORMATS[name], agent), KIT))


def shape(found: list[Link]) -> list[tuple[str, str | None, str]]:
    return [(each.id, each.parent, each.kind) for each in found]


def test_claude_code_lines_name_their_parents(tmp_path: Path) -> None:
    lines = [
        prompt(0, uuid="a", parentUuid=None),
        call(1, "t", uuid="b", parentUuid="a"),
        b'{"type":"file-history-snapshot","snapshot":{}}\n',
        result(2, "t", uuid="c", parentUuid="b"),
        line(3, type="progress", uuid="p", parentUuid="b", data={}),
        line(4, type="system", subtype="compact_boundary", uuid="d", parentUuid=None, logicalParentUuid="c"),
        prompt(5, uuid="e", parentUuid="d", isCompactSummary=True),
        prompt(6, uuid="f", parentUuid="e", isMeta=True),
        prompt(7, uuid="g", parentUuid=None, isSidechain=True),
        b'{"type":"summary","summary":"Fixing\\u0007 it","leafUuid":"c"}\n',
        b"{broken\n",
    ]
    found = read(tmp_path / "log.jsonl", "claude-code", b"".join(lines))
    assert shape(found) == [
        ("a", None, "prompt"),
        ("b", "a", "answer"),
        ("#3", "b", "entry"),
        ("c", "b", "result"),
        ("p", "b", "progress"),
        ("d", "c", "compaction"),
        ("e", "d", "summary"),
        ("f", "e", "system"),
        ("g", None, "prompt"),
        ("#10", "g", "label"),
        ("#11", "#10", "unreadable"),
    ]
    assert [each.rank for each in found[:6]] == ["main", "main", "aside", "beside", "aside", "main"]
    assert [each.id for each in found if each.side] == ["g"]
    assert (found[1].model, found[1].tokens) == ("claude-opus-4", 7)
    assert (found[9].label, found[9].labels) == ("Fixing  it", "c")
    assert found[0].at == START and found[2].at == START + 1
    for each, written in zip(found, lines, strict=True):
        assert each.digest == sha256(written.rstrip(b"\n")).digest()
        assert each.where.length == len(written) - 1


def test_a_label_hides_secrets(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    record = {"type": "summary", "summary": f"push with {secret}", "leafUuid": "x"}
    (found,) = read(tmp_path / "log.jsonl", "claude-code", [record])
    assert secret not in found.label and found.label.startswith("push with")


def entry(name: str, parent: str | None, role: str = "user", **more: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": name,
        "parentId": parent,
        "timestamp": stamp(0),
        "message": {"role": role, "content": []} | more,
    }


def test_entries_of_pi_form_a_tree_under_the_header(tmp_path: Path) -> None:
    records = [
        {"type": "session", "version": 3, "id": "s", "cwd": "/p", "timestamp": stamp(0)},
        entry("a", None),
        entry("b", "a", "assistant", model="m", usage={"output": 12}),
        entry("c", "b", "toolResult"),
        {"type": "branch_summary", "id": "d", "parentId": "a", "fromId": "c", "summary": "..."},
        {"type": "label", "id": "e", "parentId": "d", "targetId": "b", "label": "good"},
        entry("f", None),
    ]
    found = read(tmp_path / "log.jsonl", "pi", records)
    assert shape(found) == [
        ("s", None, "start"),
        ("a", "s", "prompt"),
        ("b", "a", "answer"),
        ("c", "b", "result"),
        ("d", "a", "summary"),
        ("e", "d", "label"),
        ("f", "s", "prompt"),
    ]
    assert (found[2].model, found[2].tokens) == ("m", 12)
    assert (found[5].label, found[5].labels) == ("good", "b")


def test_the_first_version_of_pi_is_a_row(tmp_path: Path) -> None:
    records = [
        {"type": "session", "id": "s", "cwd": "/p", "timestamp": stamp(0)},
        {"type": "message", "message": {"role": "user"}},
        {"type": "model_change", "modelId": "m"},
    ]
    assert shape(read(tmp_path / "log.jsonl", "pi", records)) == [
        ("s", None, "start"),
        ("#2", "s", "prompt"),
        ("#3", "#2", "setting"),
    ]


def test_a_rewind_of_gemini_leads_back_before_a_message(tmp_path: Path) -> None:
    records = [
        {"sessionId": "s", "projectHash": "h", "startTime": stamp(0)},
        {"id": "a", "type": "user", "content": "x", "timestamp": stamp(1)},
        {"id": "b", "type": "gemini", "model": "g", "tokens": {"output": 3}},
        {"id": "b", "type": "gemini", "model": "g", "tokens": {"output": 9}},
        {"$set": {"lastUpdated": stamp(2)}},
        {"id": "c", "type": "user"},
        {"$rewindTo": "b"},
        {"id": "d", "type": "user"},
        {"$rewindTo": "never-seen"},
    ]
    found = read(tmp_path / "log.jsonl", "gemini", records)
    assert shape(found) == [
        ("#1", None, "start"),
        ("a", "#1", "prompt"),
        ("b", "a", "answer"),
        ("#4", "b", "update"),
        ("#5", "b", "update"),
        ("c", "b", "prompt"),
        ("#7", "a", "rewind"),
        ("d", "#7", "prompt"),
        ("#9", "d", "rewind"),
    ]
    assert found[2].tokens == 3 and found[2].model == "g"


def test_rollouts_are_a_row_and_copilot_names_parents(tmp_path: Path) -> None:
    rollout = [
        {"timestamp": stamp(0), "type": "session_meta", "payload": {"id": "t"}},
        {"timestamp": stamp(1), "type": "response_item", "payload": {"type": "message", "role": "user"}},
        {"timestamp": stamp(2), "type": "response_item", "payload": {"type": "function_call_output"}},
        {"timestamp": stamp(3), "type": "compacted", "payload": {}},
    ]
    found = read(tmp_path / "rollout.jsonl", "codex", rollout, agent="child")
    assert shape(found) == [
        ("child#1", None, "start"),
        ("child#2", "child#1", "prompt"),
        ("child#3", "child#2", "result"),
        ("child#4", "child#3", "compaction"),
    ]
    assert all(each.side for each in found)
    events = [
        {"type": "session.start", "id": "a", "parentId": None, "timestamp": stamp(0)},
        {"type": "user.message", "id": "b", "parentId": "a"},
        {"type": "tool.execution_start", "id": "c", "parentId": "a"},
    ]
    found = read(tmp_path / "events.jsonl", "copilot", events)
    assert shape(found) == [("a", None, "start"), ("b", "a", "prompt"), ("c", "a", "entry")]


def test_a_document_is_a_row_of_its_messages(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}, 5]
    path.write_text(json.dumps({"info": 1, "messages": messages}))
    document = next(known for known in chat.FORMATS if known.style == "document")
    found = list(links(Log(path, document), KIT))
    assert shape(found) == [
        ("#/messages/0", None, "prompt"),
        ("#/messages/1", "#/messages/0", "answer"),
        ("#/messages/2", "#/messages/1", "unreadable"),
    ]
    assert found[1].digest == sha256(json.dumps(messages[1]).encode()).digest()
    assert found[1].where.entry == "/messages/1"


def test_what_is_no_log_is_counted(tmp_path: Path) -> None:
    kit = KIT.counting(Diagnostics())
    (tmp_path / "text.txt").write_text("hello")
    for path in (tmp_path / "text.txt", tmp_path / "missing", Path("bad\0name")):
        assert list(links(path, kit)) == []
    assert kit.diagnostics.total == 3


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ["uuid", "parentUuid", "id", "parentId", "type", "timestamp", "message", "payload", "$rewindTo", "$set"]
FIELDS += ["isSidechain", "summary", "leafUuid", "label", "targetId", "role", "usage", "sessionId"]


@settings(max_examples=120)
@given(
    st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8) | VALUES, max_size=5),
    st.sampled_from(sorted(FORMATS)),
    st.binary(max_size=20),
)
def test_no_log_can_make_it_raise(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], name: str, noise: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.jsonl"
    lines = [json.dumps(value).encode() for value in values]
    path.write_bytes(b"\n".join([*lines, noise]))
    found = list(links(Log(path, FORMATS[name]), KIT))
    assert len(found) >= len(lines)
    assert all(each.id and len(each.digest) == 32 for each in found)


def test_real_logs_have_one_kin_a_line(shared_data: Path) -> None:
    for session in sessions([shared_data / "real_sessions" / "claude-code"], KIT):
        found = list(session_links(session, KIT))
        written = sum(1 for log in session.logs for text in log.path.read_bytes().split(b"\n") if text.strip())
        assert len(found) == written


def _link(name: str, parent: str | None, place: int) -> Link:
    return Link(name, parent, "answer", float(place), Where("log", place, 1), b"")


@pytest.mark.parametrize(("between", "found"), [(0, True), (20, True), (63, True), (64, False)])
def test_a_parent_a_little_later_comes_first(between: int, found: bool) -> None:
    """Within a stretch; a record whose parent is nowhere near stays where it stands."""
    others = [_link(f"o{n}", None, 2 + n) for n in range(between)]
    given = [_link("child", "parent", 0), *others, _link("parent", "lost", 99)]
    names = [one.id for one in parents_first(given)]
    assert (names.index("parent") < names.index("child")) is found
    assert sorted(names) == sorted(one.id for one in given)
    assert [name for name in names if name.startswith("o")] == [one.id for one in others]


@given(st.data())
def test_moved_lines_make_no_orphans(data: st.DataObject) -> None:
    """A chain whose lines were moved by up to 20 places hangs together, and loses none."""
    size = data.draw(st.integers(1, 60))
    chain = [_link(f"n{n}", f"n{n - 1}" if n else None, n) for n in range(size)]
    shaken = sorted(chain, key=lambda one: one.at + data.draw(st.integers(0, 20)))
    tree = ConversationTree(parents_first(shaken))
    assert (len(tree), tree.orphans, len(tree.roots), tree.repeated) == (size, 0, 1, 0)


def test_objects_on_one_line_follow_each_other(tmp_path: Path) -> None:
    pieces = [prompt(0, uuid="a").strip(), b'{"type":"summary"}', b"{}", call(1, "t", uuid="b", parentUuid="a")]
    found = read(tmp_path / "s.jsonl", "claude-code", b"".join(pieces) + b"no json\n")
    assert shape(found) == [
        ("a", None, "prompt"),
        ("#1.1", "a", "entry"),
        ("#1.2", "#1.1", "entry"),
        ("b", "a", "answer"),
        ("#2", "b", "unreadable"),
    ]
    assert [each.where.length for each in found[:3]] == [len(piece) for piece in pieces[:3]]
