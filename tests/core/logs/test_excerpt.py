"""What stands behind an event can be read back, without its secrets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from core.agents.registry import make_kit
from core.events import ToolUse, Where
from core.logs.finder import sessions
from core.logs.records import read_excerpt
from core.logs.redact.text import HIDDEN
from core.logs.session import read_session as read_session
from tests.core.logs import log_lines as logs

if sys.version_info >= (3, 14):
    from compression.zstd import compress
else:
    from backports.zstd import compress


@pytest.mark.parametrize("packed", [False, True])
def test_an_event_leads_back_to_its_line(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "s-1.jsonl"
    data = logs.session(3) + logs.call(50, "k") + logs.result(51, "k", "API_KEY=abcdef0123456789 said näher")
    path.write_bytes(compress(data) if packed else data)
    kit = make_kit()
    [session] = sessions([path], kit)
    uses = {event.id: event for event in read_session(session, kit) if isinstance(event, ToolUse)}
    for name, use in uses.items():
        assert use.where is not None
        passage = read_excerpt(use.where)
        assert not passage.fault
        assert not passage.cut
        assert json.loads(passage.text)["message"]["content"][0]["tool_use_id"] == name
    where = uses["k"].where
    assert where is not None
    text = json.loads(read_excerpt(where).text)["message"]["content"][0]["content"]
    assert text == f"API_KEY={HIDDEN} said näher"


def test_a_long_line_is_cut_and_a_secret_across_the_cut_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "log"
    secret = "sk-ant-api03-" + "aB3" * 30
    path.write_bytes(b"x" * 950 + b" " + secret.encode() + b" " + b"y" * 100_000)
    passage = read_excerpt(Where(str(path), 0, path.stat().st_size), longest=1000)
    assert passage.cut
    assert len(passage.text) == 1000
    assert "sk-ant" not in passage.text
    assert HIDDEN in passage.text


def test_a_secret_that_its_field_gives_away_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "log"
    word = "hunter" + "two"
    line = {"input": {"element": "Password field", "text": word, "argv": ["sshpass", "-p", word]}}
    path.write_text(json.dumps({"a": 1, **line}))
    size = path.stat().st_size
    hidden = {"element": "Password field", "text": HIDDEN, "argv": ["sshpass", "-p", HIDDEN]}
    assert json.loads(read_excerpt(Where(str(path), 0, size)).text) == {"a": 1, "input": hidden}
    assert json.loads(read_excerpt(Where(str(path), 0, size, "/input")).text) == hidden


def test_a_key_block_that_goes_beyond_the_cut_is_hidden(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(
        b"-----BEGIN RSA PRIVATE KEY-----\n" + b"MIIEpAIBAAKC\n" * 50_000 + b"-----END RSA PRIVATE KEY-----"
    )
    passage = read_excerpt(Where(str(path), 0, path.stat().st_size), longest=100)
    assert passage.text == HIDDEN
    assert passage.cut


def test_an_entry_of_a_document_is_found_by_its_pointer(tmp_path: Path) -> None:
    path = tmp_path / "doc.json"
    data = json.dumps({"messages": [{"a/b": 1}, {"token": "abcdef123456", "said": "hello"}]}).encode()
    path.write_bytes(b"  " + data)
    where = Where(str(path), 2, len(data), "/messages/1")
    assert json.loads(read_excerpt(where).text) == {"token": HIDDEN, "said": "hello"}
    assert read_excerpt(Where(str(path), 2, len(data), "/messages/0/a~1b")).text == "1"
    assert read_excerpt(Where(str(path), 2, len(data), "/messages/7")).fault == "changed since it was read"
    assert read_excerpt(Where(str(path), 2, len(data), "/messages/x")).fault == "changed since it was read"
    assert read_excerpt(Where(str(path), 3, len(data), "/messages/0")).fault == "changed since it was read"


def test_every_event_of_the_real_logs_leads_back(shared_data: Path) -> None:
    kit = make_kit()
    seen = 0
    for session in sessions([shared_data / "real_sessions"], kit):
        for event in list(read_session(session, kit))[:10]:
            if event.where is not None:
                passage = read_excerpt(event.where)
                assert passage.text
                assert not passage.fault
                seen += 1
    assert seen > 100


def test_what_is_gone_is_said(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert read_excerpt(Where(str(path), 0, 10)).fault == "vanished"
    path.write_bytes(b"short")
    assert read_excerpt(Where(str(path), 100, 10)).fault == "changed since it was read"
    assert read_excerpt(Where(str(tmp_path), 0, 10)).fault == "not a regular file"
    path.write_bytes(b"\xff\xfe\0 odd")
    assert read_excerpt(Where(str(path), 0, 6)).text.endswith(" od")


def test_a_log_that_is_replaced_is_read_anew(tmp_path: Path) -> None:
    path, other = tmp_path / "s-1.jsonl", tmp_path / "new"
    path.write_bytes(b'"first"')
    assert read_excerpt(Where(str(path), 0, 7)).text == '"first"'
    other.write_bytes(b'"later"')
    other.replace(path)
    assert read_excerpt(Where(str(path), 0, 7)).text == '"later"'
    path.unlink()
    assert read_excerpt(Where(str(path), 0, 7)).fault
