"""The conversation's tree: its shape as the log tells it, and any later edit of the log found."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.agents.claude_code import reader as claude_code
from core.agents.registry import make_kit
from core.errors import StateError
from core.events import Where
from core.logs.finder import sessions
from core.logs.lines import stretches
from core.logs.links import Link, LinkKind, Rank, links, session_links
from core.logs.records import Log
from core.logs.session import LogSession
from core.report.conversation import ConversationTree, Node
from tests.core.logs.log_lines import call, line, prompt, result

KIT = make_kit()


def record(
    name: str,
    parent: str | None = None,
    kind: LinkKind = "prompt",
    rank: Rank = "main",
    side: bool = False,
    labels: str = "",
    file: str = "log",
) -> Link:
    digest = sha256(f"{name} {parent}".encode()).digest()
    return Link(name, parent, kind, 0.0, Where(file), digest, rank, side, label="!", labels=labels)


def branches(tree: ConversationTree) -> list[tuple[str, str | None, str, str, bool]]:
    return [(each.kind, each.base, each.start, each.tip, each.current) for each in tree.branches()]


def changed(tree: ConversationTree, links: Iterable[Link]) -> tuple[str, int] | None:
    """Log and place of the first record that a later reading finds changed."""
    change = ConversationTree(links).first_change(tree.hashes())
    return None if change is None else (change.file, change.place)


def test_hashes_are_chained_and_lead_back_to_their_nodes() -> None:
    tree = ConversationTree([record("a"), record("b", "a", "answer"), record("c", "b")])
    first = sha256(record("a").digest).digest()
    assert tree["a"].content_hash == first
    assert tree["b"].content_hash == sha256(first + record("b", "a").digest).digest()
    assert [node.id for node in tree.path()] == ["a", "b", "c"]
    assert [node.id for node in tree.path("b")] == ["a", "b"]
    assert tree.find(tree["b"].content_hash) == tree["b"]
    assert tree.find(tree["b"].content_hash.hex()[:12].upper()) == tree["b"]
    assert tree.find("") is None and tree.find(b"?" * 32) is None and tree.find("zz") is None
    with pytest.raises(StateError, match="nobody"):
        tree.path("nobody")


def test_an_empty_tree_has_no_head() -> None:
    tree = ConversationTree()
    assert (tree.head, tree.path(), tree.branches(), changed(tree, [])) == (None, [], [], None)


def test_parallel_results_are_no_branches_and_going_back_is_one() -> None:
    tree = ConversationTree(
        [
            record("ask"),
            record("call-1", "ask", "answer"),
            record("call-2", "call-1", "answer"),
            record("tick", "call-1", "progress", "aside"),
            record("done-1", "call-1", "result", "beside"),
            record("done-2", "call-2", "result", "beside"),
            record("said", "done-2", "answer"),
        ]
    )
    assert branches(tree) == [("trunk", None, "ask", "said", True)]
    tree.add(record("again", "said"))
    tree.add(record("other", "said"))
    tree.add(record("reply", "other", "answer"))
    tree.add(record("reply-2", "other", "answer"))
    assert branches(tree)[1:] == [
        ("rewind", "said", "other", "reply", True),
        ("fork", "other", "reply-2", "reply-2", True),
    ]
    tree.add(record("earlier", "call-1"))
    assert branches(tree)[-1] == ("rewind", "call-1", "earlier", "earlier", True)


def test_going_back_to_a_call_whose_result_went_on_is_a_rewind() -> None:
    tree = ConversationTree(
        [
            record("ask"),
            record("call", "ask", "answer"),
            record("done", "call", "result", "beside"),
            record("said", "done", "answer"),
            record("no", "call"),
        ]
    )
    assert branches(tree)[1:] == [("rewind", "call", "no", "no", True)]


def test_sidechains_orphans_and_second_beginnings() -> None:
    tree = ConversationTree(
        [
            record("#1", None, "entry", "aside"),
            record("a"),
            record("s", None, side=True),
            record("t", "s", "answer", side=True),
            record("u", "a", side=True),
            record("lost", "not-here", "answer"),
            record("loop", "loop"),
            record("b", "a", "answer"),
        ]
    )
    assert branches(tree) == [
        ("trunk", None, "a", "b", True),
        ("sidechain", None, "s", "t", False),
        ("sidechain", "a", "u", "u", False),
        ("orphan", None, "lost", "lost", False),
        ("orphan", None, "loop", "loop", False),
    ]
    assert (tree.orphans, tree.roots) == (2, ["#1", "a", "s", "lost", "loop"])
    assert tree.head == tree["b"]


def test_a_rewound_record_is_the_head() -> None:
    tree = ConversationTree([record("a"), record("b", "a", "answer"), record("r", "a", "rewind")])
    assert branches(tree)[1:] == [("rewind", "a", "r", "r", True)]
    tree.add(record("c", "r"))
    assert tree.head == tree["c"]


def test_an_id_that_comes_twice_gets_one_of_its_own() -> None:
    tree = ConversationTree([record("a"), record("a@2", "a"), record("a", "a@2", "result")])
    assert tree.repeated == 1
    assert [node.id for node in tree.path()] == ["a", "a@2", "a@2@"]
    assert changed(tree, [record("a"), record("a@2", "a"), record("a", "a@2")]) is None


def test_labels_come_to_the_node_they_name() -> None:
    tree = ConversationTree([record("a"), record("l", "a", "label", labels="a")])
    assert tree["a"].label == "!" and tree["l"].label == ""
    assert changed(tree, [record("a"), record("l", "a")]) is None


def test_logs_of_one_session_are_checked_each_by_itself() -> None:
    main, child = [record("a"), record("b", "a")], [record("c", file="child"), record("d", "c", file="child")]
    tree = ConversationTree([main[0], child[0], main[1], child[1]])
    assert changed(tree, [*main, *child]) is None
    assert changed(tree, [*child, *main, record("e", "b"), record("f", file="new")]) is None
    assert changed(tree, [*main, child[0]]) == ("child", 1)
    assert changed(tree, main) == ("child", 0)


@st.composite
def logs(draw: st.DrawFn) -> list[bytes]:
    """A small Claude Code log: a tree with sidechains, asides and lines that are no JSON."""
    lines: list[bytes] = []
    known: list[str] = []
    for number in range(draw(st.integers(2, 9))):
        kind = draw(st.sampled_from(("prompt", "call", "result", "aside", "broken", "progress")))
        parent = draw(st.sampled_from([*known[-3:], None, "gone"]))
        side = draw(st.booleans()) and number > 1
        fields: dict[str, Any] = {"uuid": f"u{number}", "parentUuid": parent, "isSidechain": side}
        match kind:
            case "aside":
                lines.append(b'{"type":"mode","n":%d}\n' % number)
            case "broken":
                lines.append(b'{"type": %d\n' % number)
            case "prompt":
                lines.append(prompt(number, **fields))
            case "call":
                lines.append(call(number, f"t{number}", **fields))
            case "result":
                lines.append(result(number, f"t{number}", **fields))
            case _:
                lines.append(line(number, type="progress", data={}, **fields))
        known.append(f"u{number}")
    return lines


def written(folder: Path, lines: list[bytes]) -> list[Link]:
    path = folder / "log.jsonl"
    path.write_bytes(b"".join(lines))
    return list(links(Log(path, claude_code.FORMATS[0]), KIT))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tree")


@settings(max_examples=80)
@given(logs(), st.data())
def test_any_edited_line_is_found(folder: Path, lines: list[bytes], data: st.DataObject) -> None:
    tree = ConversationTree(written(folder, lines))
    assert changed(tree, written(folder, lines)) is None
    place = data.draw(st.integers(0, len(lines) - 1))
    spot = data.draw(st.integers(0, len(lines[place]) - 2))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value not in (lines[place][spot], 10)))
    edited = bytearray(lines[place])
    edited[spot] = byte
    found = changed(tree, written(folder, [*lines[:place], bytes(edited), *lines[place + 1 :]]))
    assert found is not None and found[1] == place


@settings(max_examples=60)
@given(logs(), st.data())
def test_any_removed_or_reordered_line_is_found(folder: Path, lines: list[bytes], data: st.DataObject) -> None:
    tree = ConversationTree(written(folder, lines))
    place = data.draw(st.integers(0, len(lines) - 1))
    found = changed(tree, written(folder, [*lines[:place], *lines[place + 1 :]]))
    assert found is not None and found[1] == place
    other = data.draw(st.integers(0, len(lines) - 1))
    assume(lines[place] != lines[other])
    swapped = list(lines)
    swapped[place], swapped[other] = lines[other], lines[place]
    found = changed(tree, written(folder, swapped))
    assert found is not None and found[1] == min(place, other)


@settings(max_examples=60)
@given(logs(), st.integers(0, 9))
def test_a_tree_grown_line_by_line_is_the_same(folder: Path, lines: list[bytes], cut: int) -> None:
    whole = ConversationTree(written(folder, lines))
    grown = ConversationTree(written(folder, lines[:cut]))
    for each in written(folder, lines)[cut:]:
        grown.add(each)
    assert [grown[node.id] for node in every(grown)] == [whole[node.id] for node in every(whole)]
    assert grown.branches() == whole.branches() and grown.head == whole.head
    assert changed(ConversationTree(written(folder, lines[:cut])), written(folder, lines)) is None


def every(tree: ConversationTree) -> list[Node]:
    return sorted((tree[name] for name in tree), key=lambda node: node.place)


@settings(max_examples=60)
@given(logs())
def test_every_node_is_reached_from_a_root(folder: Path, lines: list[bytes]) -> None:
    tree = ConversationTree(written(folder, lines))
    check_reachable(tree)


def check_reachable(tree: ConversationTree) -> None:
    reached: set[str] = set()
    for node in every(tree):
        assert node.parent is None or (node.parent in reached and tree[node.parent].place < node.place)
        assert (node.parent is None) == (node.id in tree.roots)
        reached.add(node.id)
    assert sum(each.nodes for each in tree.branches()) == len(tree)


def real(shared_data: Path, agent: str) -> list[LogSession]:
    return sessions([shared_data / "real_sessions" / agent], KIT)


@pytest.mark.parametrize("agent", ["claude-code", "pi", "codex", "gemini", "copilot-cli", "swe-agent"])
def test_real_sessions_verify_and_are_reachable(shared_data: Path, agent: str) -> None:
    for session in real(shared_data, agent):
        tree = ConversationTree(session_links(session, KIT))
        assert len(tree) > 0
        check_reachable(tree)
        assert changed(tree, session_links(session, KIT)) is None


@pytest.mark.parametrize(("agent", "name"), [("claude-code", "tracker.jsonl"), ("pi", "large-session.jsonl")])
def test_one_changed_byte_of_a_real_log_is_found(shared_data: Path, tmp_path: Path, agent: str, name: str) -> None:
    original = (shared_data / "real_sessions" / agent / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(original)
    tree = ConversationTree(links(path, KIT))
    for share in (0.1, 0.5, 0.93):
        spot = int(len(original) * share)
        while original[spot : spot + 1].isspace():
            spot += 1
        path.write_bytes(original[:spot] + bytes([original[spot] ^ 1]) + original[spot + 1 :])
        change = ConversationTree(links(path, KIT)).first_change(tree.hashes())
        assert change is not None and change.node is not None
        assert change.node.where.offset <= spot < change.node.where.offset + change.node.where.length


def test_a_log_whose_person_went_back_never_looks_as_if_nobody_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, went_back, denied = tmp_path / "log.jsonl", 0, 0
    log = Log(path, claude_code.FORMATS[0])
    for seed in range(400):
        dice = random.Random(seed)  # noqa: S311
        rows = []
        for number in range(dice.randint(2, 14)):
            kind = dice.choice(("prompt", "meta", "result", "assistant", "assistant", "progress", "system"))
            content = [{"type": "tool_result", "tool_use_id": "t"}] if kind == "result" else "go on"
            rows.append(
                {
                    "parentUuid": f"u{number - dice.choice((1, 1, 1, 1, 1, 1, 2, 3, -1))}" if number else None,
                    "type": "user" if kind in ("prompt", "meta", "result") else kind,
                    "isMeta": kind == "meta",
                    "message": {"role": "user", "content": content},
                    "uuid": f"u{number}",
                }
            )
        separators = dice.choice((None, (",", ":")))
        body = "".join(json.dumps(row, separators=separators) + "\n" for row in rows).encode()
        path.write_bytes(body)
        monkeypatch.setattr("core.logs.lines.PIECE", dice.choice((7, 200, 1 << 20)))
        assert b"".join(stretches(path)) == body
        rewinds = any(branch.kind == "rewind" for branch in ConversationTree(links(log, KIT)).branches())
        may_go_back = claude_code.ClaudeCodeLinks(log).may_go_back(stretches(path))
        assert may_go_back or not rewinds
        went_back, denied = went_back + rewinds, denied + (not may_go_back)
    assert min(went_back, denied) > 20
