"""Sessions as traces, and how they are sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.workload import session
from core.errors import NotSent, UsageError
from core.events import AgentEnd, AgentStart, Event, SessionEnd, SessionStart, ToolUse, Turn
from core.export.film import Privacy
from core.extras.telemetry.spans import BATCH, Collector, LiveSender, Span, Tracer, encoded, headers_of, send_all
from core.settings import Settings
from core.timeline.initial_state import PLAIN
from tests.core.export.films import hostile
from tests.core.extras.telemetry.collectors import attributes, collector, spans_of
from tui.cli import main

SETTINGS = Settings()


def traced(events: list[Event], privacy: Privacy | None = None) -> list[Span]:
    society = PLAIN.society(SETTINGS)
    tracer = Tracer("s-1", privacy=privacy)
    spans = [span for event in events for span in tracer.take(event, society.step(event))]
    return [*spans, *tracer.close()]


def small() -> list[Event]:
    return [
        SessionStart(at=100.0, session="s-1", tool="claude-code", project="/p"),
        ToolUse(at=110.0, id="a", tool="Bash", action="shell_exec", outcome="failure", duration=4.0, exit_code=1),
        Turn(at=109.0, id="m", model="some-model", input_tokens=5, output_tokens=7, cache_read=10, cost=0.5),
        AgentStart(at=111.0, child="sub"),
        ToolUse(at=112.0, agent="sub", id="b", tool="Read", action="file_read", targets=("src/a.py",)),
        AgentEnd(at=113.0, child="sub"),
        SessionEnd(at=120.0),
    ]


def test_agents_hold_their_tools_and_their_sub_agents() -> None:
    spans = {span.name: span for span in traced(small()[:-1])}
    root, sub = spans["invoke_agent claude-code"], spans["invoke_agent sub"]
    assert root.parent == "" and sub.parent == root.id
    assert spans["execute_tool Bash"].parent == spans["chat some-model"].parent == root.id
    assert spans["execute_tool Read"].parent == sub.id
    assert {span.trace for span in spans.values()} == {root.trace}
    assert (root.start, root.end) == (100.0, 113.0)
    assert (spans["execute_tool Bash"].start, spans["execute_tool Bash"].end) == (106.0, 110.0)
    assert spans["execute_tool Bash"].error == "failure" and spans["execute_tool Read"].error == ""
    assert root.attributes["gen_ai.usage.input_tokens"] == 15
    assert root.attributes["gen_ai.provider.name"] == "anthropic"


def test_a_pending_call_is_no_span_yet() -> None:
    spans = traced([ToolUse(at=1.0, id="a", tool="Bash", outcome="pending")])
    assert [span.name for span in spans] == ["invoke_agent main"]


def test_equal_events_give_equal_spans_and_ids_are_never_shared() -> None:
    events = session(400, agents=2)
    spans = traced(events)
    assert spans == traced(events)
    assert len({span.id for span in spans}) == len(spans)
    told = {event.name for span in spans for event in span.events}
    assert {"nooscope.signal", "nooscope.state"} <= told


def test_otlp_is_as_collectors_read_it() -> None:
    told = {span["name"]: span for span in spans_of(encoded(traced(small()), {"service.name": "x"}))}
    bash = told["execute_tool Bash"]
    assert (len(bash["traceId"]), len(bash["spanId"])) == (32, 16)
    assert bash["startTimeUnixNano"] == "106000000000" and bash["endTimeUnixNano"] == "110000000000"
    assert bash["status"]["code"] == 2 and attributes(bash)["error.type"] == "failure"
    assert attributes(bash)["nooscope.exit_code"] == "1"
    assert attributes(bash)["gen_ai.operation.name"] == "execute_tool"
    assert attributes(told["execute_tool Read"])["nooscope.targets"] == {"values": [{"stringValue": "src/a.py"}]}
    assert "parentSpanId" not in told["invoke_agent claude-code"]


def test_a_strict_trace_names_nothing() -> None:
    text = encoded(traced(small(), Privacy("strict")), {}).decode()
    for word in ("src", "a.py", "s-1", "Bash", "some-model", '"sub"'):
        assert word not in text, word


@pytest.mark.parametrize("url", ["", "collector", "ftp://x", "file:///etc/passwd", "http://", "http://x:99999"])
def test_only_an_address_is_sent_to(url: str) -> None:
    with pytest.raises(UsageError, match="not an address"):
        Collector(url)


def test_headers_are_read_as_the_variable_holds_them() -> None:
    assert headers_of("Authorization=Basic%20abc, x=1,,bad") == {"Authorization": "Basic abc", "x": "1"}


def test_a_saved_session_goes_in_batches() -> None:
    spans = traced(session(600))
    assert len(spans) > BATCH
    with collector() as kept:
        send_all(Collector(kept.url, {"X-Key": "v"}), spans, {})
    assert len(kept.spans) == len(spans)
    assert {path for path, _, _ in kept.requests} == {"/v1/traces"}
    assert {headers["X-Key"] for _, headers, _ in kept.requests} == {"v"}


@pytest.mark.parametrize(("status", "again"), [(503, True), (429, True), (400, False), (302, False)])
def test_what_is_not_taken_is_said(status: int, again: bool) -> None:
    with collector() as kept:
        kept.statuses = [status]
        with pytest.raises(NotSent, match=str(status)) as caught:
            Collector(kept.url).send(b"{}")
    assert caught.value.again is again


def test_nobody_there_is_said_without_the_secret_in_the_address() -> None:
    with pytest.raises(NotSent, match="cannot be reached") as caught:
        Collector("http://user:hunter2@127.0.0.1:1/?token=hunter2").send(b"{}")
    assert "hunter2" not in str(caught.value)


def test_a_live_sender_tries_again_and_loses_nothing() -> None:
    waits: list[float] = []
    said: list[str] = []
    spans = traced(small())
    with collector() as kept:
        kept.statuses = [503, 503]
        sender = LiveSender(Collector(kept.url), {}, said.append, waits.append)
        for span in spans:
            sender.put(span)
        sender.close()
        assert sorted(span["spanId"] for span in kept.spans) == sorted(span.id for span in spans)
    assert (sender.sent, sender.lost) == (len(spans), 0)
    assert waits == [0.5, 1.0]
    assert len(said) == 1 and "trying again" in said[0]


def test_a_live_sender_gives_up_and_says_so() -> None:
    said: list[str] = []
    with collector() as kept:
        kept.statuses = [400] * 100
        sender = LiveSender(Collector(kept.url), {}, said.append, lambda _: None)
        sender.put(traced(small())[0])
        sender.close()
    assert (sender.sent, sender.lost) == (0, 1)
    assert "could not be sent" in said[-1]


def test_export_sends_a_saved_log_and_no_word_of_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = hostile(home / "s-1.jsonl")
    with collector() as kept:
        assert main(["export", str(log), "--otlp", kept.url]) == 0
    names = [span["name"] for span in kept.spans]
    assert names.count("execute_tool Bash") == 2 and "invoke_agent claude-code" in names
    sent = b"".join(body for _, _, body in kept.requests)
    for word in (b"please", b"sk-ant", b"no rule", b"script"):
        assert word not in sent
    assert "spans sent to http://127.0.0.1" in capsys.readouterr().err


def test_a_headless_watch_sends_as_it_goes(home: Path) -> None:
    log = hostile(home / "s-1.jsonl")
    with collector() as kept:
        assert main(["watch", str(log), "--headless", "--otlp", kept.url, "--idle", "0"]) == 0
    names = [span["name"] for span in kept.spans]
    assert names.count("execute_tool Bash") == 2 and "invoke_agent claude-code" in names


def test_nothing_is_sent_unless_asked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = hostile(home / "s-1.jsonl")
    with collector() as kept:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", kept.url)
        assert main(["watch", str(log), "--headless", "--idle", "0"]) == 0
        assert main(["export", str(log), "--format", "otlp", "-o", "out.jsonl"]) == 0
    assert kept.requests == []
    assert spans_of((home / "out.jsonl").read_bytes())
