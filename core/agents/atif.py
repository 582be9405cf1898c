"""ATIF, the Agent Trajectory Interchange Format: trajectories of Harbor, Terminal-Bench, Devin and others."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from core.agents.calls import Result
from core.agents.reader import TranscriptReader, left_untold, read_result
from core.agents.values import amount, code, items, table, text, token_counts, whole_number, without_cached, words
from core.events import ACTIONS, CONTINUES, MAIN, OUTCOMES, SessionEnd, ToolUse
from core.logs.format import Format, Sample
from core.logs.lines import seconds
from core.logs.redact.values import redact_name

VERSION = "ATIF-v1."
_FAILED = frozenset(("failure", "failed", "error", "timeout"))
_REJECTED = frozenset(("rejected", "denied", "cancelled"))


class AtifReader(TranscriptReader):
    """A step contains an answer, its calls and their results; sub-agents are embedded or in other files."""

    name = "atif"
    gaps = "outcomes judged by the text unless `extra` has an exit code or a status; times only if steps have them"
    many = True

    def setup(self) -> None:
        self._timed = False
        self._base = ""  # The JSON pointer of the trajectory that is read, in its document.
        self._embedded: dict[str, tuple[str, dict[str, Any]]] = {}

    def read(self, value: Any) -> None:
        """Add the events of one trajectory, or of several that are the values of an object."""
        document = self.table(value, "trajectory")
        if "steps" in document:
            self._main_trajectory(document, "")
            return
        inner = [(f"/{key}", one) for key, one in document.items() if "steps" in table(one)]
        if not inner:
            self.note("no steps")
            return
        self._embedded = {_key(one): (place, one) for place, one in inner[1:]}
        self._main_trajectory(inner[0][1], inner[0][0])

    def _main_trajectory(self, document: dict[str, Any], base: str) -> None:
        if self.begun:
            self.add(*self.close_all())
        self._base = base
        steps = [table(step) for step in self.items(document.get("steps"), "steps")]
        times = [at for step in steps if (at := self._time(step)) is not None]
        self._timed = bool(times)
        self.now = times[0] if times else 0.0
        agent, extra = table(document.get("agent")), table(document.get("extra"))
        self.model = text(agent.get("model_name"))
        metrics = [table(step.get("metrics")) for step in steps]
        name = text(document.get("session_id")) or text(document.get("trajectory_id"))
        began = seconds(extra.get("started"))
        project, branch = extra.get("cwd"), extra.get("branch")
        version = f"{text(agent.get('name'))} {text(agent.get('version'))}".strip()
        untold = left_untold(
            cost="cost" not in self.untold,
            times=times,
            tokens=any(metrics) or document.get("final_metrics"),
            model=self.model or any(text(step.get("model_name")) for step in steps),
        )
        self.begin(
            name, at=began, version=version, synthetic_time=not times, untold=untold, project=project, branch=branch
        )
        self._embed(document, base)
        self._steps(document)
        self.enter()
        for key in list(self._embedded):
            self._child({"trajectory_id": key})
        if not any(metrics):
            self._total(table(document.get("final_metrics")))
        self.add(*self.close_all())
        if rest := text(document.get("continued_trajectory_ref")):
            self.add(SessionEnd(at=self.now, where=self.here(base), reason=CONTINUES + redact_name(rest)))

    def _total(self, metrics: dict[str, Any]) -> None:
        counts = token_counts(metrics, "total_prompt_tokens", "total_completion_tokens", "total_cached_tokens")
        self.add(self.total(self.model, amount(metrics.get("total_cost_usd")), without_cached(*counts)))

    def _time(self, step: dict[str, Any]) -> float | None:
        return seconds(step.get("timestamp"))

    def _steps(self, document: dict[str, Any]) -> None:
        for place, step in self.placed(document.get("steps"), "steps"):
            if step.get("is_copied_context") is True:
                continue
            self.advance(self._time(step), timed=self._timed or step.get("source") != "agent")
            self.enter(f"{self._base}/steps/{place}")
            self.check_parts(items(step.get("message")))
            match step.get("source"):
                case "user":
                    if self.agent == MAIN:
                        self.add(self.prompt(words(step.get("message"))))
                case "agent":
                    self._answer(step)
                case "system":
                    self._managed(step)
                case source:
                    self.skip(f"source/{source}")
            self._results(step)

    def _managed(self, step: dict[str, Any]) -> None:
        """Read a system step: a compaction, an interruption or a note."""
        extra = table(step.get("extra"))
        managed = table(extra.get("context_management"))
        if extra.get("interrupt") is True:
            self.add(self.prompt("", interrupt=True))
        if "rollback" in extra:
            self.add(self.rollback(extra["rollback"]))
        results = [table(one) for one in items(table(step.get("observation")).get("results"))]
        handed = any(one.get("subagent_trajectory_ref") for one in results) and not step.get("tool_calls")
        if managed.get("type") == "compaction" or handed:
            before, after = managed.get("tokens_before"), managed.get("tokens_after")
            self.add(self.compaction(trigger=text(managed.get("trigger")), before=before, after=after))

    def _answer(self, step: dict[str, Any]) -> None:
        metrics, extra = table(step.get("metrics")), table(step.get("extra"))
        more = table(metrics.get("extra"))
        cached = whole_number(metrics.get("cached_tokens"))
        written = whole_number(more.get("cache_write_tokens") or more.get("cache_creation_input_tokens"))
        calls = self.objects(step.get("tool_calls"), "tool_calls")
        if step.get("llm_call_count") != 0:
            sent, answered, *_ = token_counts(metrics, "prompt_tokens", "completion_tokens")
            turn = self.turn(
                words(step.get("message")),
                message=f"{self.agent}/step-{step.get('step_id') or self.here().entry}",
                model=text(extra.get("generation_model")) or text(step.get("model_name")) or self.model,
                tokens=without_cached(sent, answered, cached, written),
                cost=amount(metrics.get("cost_usd")),
                stop=text(extra.get("stop_reason")) or ("tool_use" if calls else ""),
            )
            if "cost_usd" in more:
                turn = structs.replace(turn, cost=None if more["cost_usd"] is None else 0.0)
            self.add(self.usage.deduplicate(turn))
        for place, call in enumerate(calls):
            name = text(call.get("tool_call_id")) or f"{self.here().entry}/{place}"
            at = self.time_of(table(call.get("extra")).get("timestamp"))
            self.call(name, text(call.get("function_name")), call.get("arguments"), at=at)
            action, kind = table(call.get("extra")).get("action"), self.calls.kind(name)
            if kind is not None and action in ACTIONS:
                self.calls.amend(name, kind._replace(action=action))

    def _results(self, step: dict[str, Any]) -> None:
        """Results name their call, or come in the order of the calls."""
        results = self.objects(table(step.get("observation")).get("results"), "results")
        is_named = any(text(one.get("source_call_id")) for one in results)
        calls = [text(table(one).get("tool_call_id")) for one in ([] if is_named else items(step.get("tool_calls")))]
        for place, one in enumerate(results):
            name = text(one.get("source_call_id")) or (calls[place] if place < len(calls) else "")
            extra = table(one.get("extra"))
            if name:
                at, result = self.time_of(extra.get("timestamp")), _result(one.get("content"), extra)
                use = self.calls.end(name, at, result, self.here(), line=self._line)
                self._add(use, text(extra.get("outcome")), timed="duration_sec" in extra)
            if step.get("source") == "agent":
                for ref in map(table, items(one.get("subagent_trajectory_ref"))):
                    self._child(ref)

    def _add(self, use: ToolUse | None, outcome: str, *, timed: bool) -> None:
        """Add a tool use with the outcome that its producer gives it, if that is one of ours."""
        if use is not None:
            judged = outcome if outcome in OUTCOMES else use.outcome
            self.add(structs.replace(use, outcome=judged, duration=use.duration if timed else None))

    def _child(self, ref: dict[str, Any]) -> None:
        """A sub-agent's own steps, if they are embedded; else that it ran."""
        key, extra = _key(ref), table(ref.get("extra"))
        place, child = self._embedded.pop(key, ("", {}))
        times = [self._time(table(one)) for one in items(child.get("steps"))]
        first = [at for at in (seconds(extra.get("started")), *times) if at is not None]
        begin = first[0] if first else self.now
        before = self.now, self.agent, self.model, self._base, self._place
        self.enter()
        role = text(extra.get("role")) or text(table(child.get("agent")).get("name"))
        self.child_started(key, role, at=begin)
        already = len(self.out)
        if child:
            self.agent, self._base, self.now = key, place, begin
            self.model = text(table(child.get("agent")).get("model_name")) or self.model
            self._embed(child, place)
            self._steps(child)
            self.enter()
        last = seconds(extra.get("ended")) or max(self.now, before[0])
        self.now, self.agent, self.model, self._base, place_before = before
        if not extra.get("started") or "ended" in extra:
            uses = sum(isinstance(one, ToolUse) and one.agent == key for one in self.out[already:])
            uses, tokens = whole_number(extra.get("tool_uses")) or uses, whole_number(extra.get("tokens"))
            outcome = "failure" if text(extra.get("outcome")) in _FAILED else "success"
            self.child_ended(key, at=last, outcome=outcome, tool_uses=uses, tokens=tokens)
        self._place = place_before

    def _embed(self, document: dict[str, Any], base: str) -> None:
        for place, child in self.placed(document.get("subagent_trajectories"), "subagent_trajectories"):
            self._embedded[_key(child)] = (f"{base}/subagent_trajectories/{place}", child)


class DevinReader(AtifReader):
    """Transcripts of Devin's CLI: ATIF with the times and costs of steps in `metadata`."""

    name = "devin"
    untold = ("cost",)
    gaps = "cost in its own units; data that is only in its database is not read"

    def _time(self, step: dict[str, Any]) -> float | None:
        at = seconds(step.get("timestamp"))
        return seconds(table(step.get("metadata")).get("created_at")) if at is None else at

    def _answer(self, step: dict[str, Any]) -> None:
        inner = table(step.get("metadata")).get("metrics")
        super()._answer(step if "metrics" in step else {**step, "metrics": inner})


def _key(reference: dict[str, Any]) -> str:
    """The name of a sub-agent's trajectory; a session's id names several."""
    names = (text(reference.get(key)) for key in ("trajectory_id", "trajectory_path", "session_id"))
    return next(filter(None, names), "")


def _result(content: Any, extra: dict[str, Any]) -> Result:
    """Return a result; the format has no flag for success, so the producer's extras or the text decide."""
    guessed = read_result(content, guess=True)
    exited = code(extra.get("exit_code"))
    status = text(extra.get("outcome")) or text(extra.get("status"))
    is_explicit = exited is not None or bool(status) or isinstance(extra.get("success"), bool)
    return Result(
        text=guessed.text,
        error=(status in _FAILED or extra.get("success") is False) if is_explicit else guessed.error,
        exit_code=exited if is_explicit else guessed.exit_code,
        rejected=status in _REJECTED,
        duration=amount(extra.get("duration_sec")),
        size=whole_number(extra.get("size")) or None,
    )


def _sniff(sample: Sample) -> int:
    head = sample.head[:4096].replace(b'": "', b'":"')
    return 97 if b'"schema_version":"ATIF-v1.' in head else 0


def _devin(sample: Sample) -> int:
    """Devin's own transcripts, by their folder or by the name of the agent."""
    in_folder = "devin" in sample.path.parts and sample.path.parent.name == "transcripts"
    return 99 if _sniff(sample) and (in_folder or b'"devin' in sample.head[:4096].lower()) else 0


def _lines(sample: Sample) -> int:
    several = sample.document is None and sample.head.startswith(b"{")
    records = sample.records[:2] if several else ()
    return 98 if any(text(one.get("schema_version")).startswith(VERSION) for one in records) else 0


FORMATS = (
    Format("atif", "document", _sniff, AtifReader, id_key=("session_id",)),
    Format("atif", "lines", _lines, AtifReader),
)
DEVIN = (Format("devin", "document", _devin, DevinReader, id_key=("session_id",)),)
