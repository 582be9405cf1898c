"""How an agent's turn ended, judged from its last words and from how its calls went.

The rules are word lists and punctuation, without a model. They read the end of one message, once, when
somebody looks at a session whose turn is over; an event costs nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from core.agents.models import GOAL_FAILED
from core.agents.tables import sections
from core.agents.words import WordReader, Words, first_line
from core.events import MAIN, Event, Prompt, Rollback, ToolUse, Turn

# How a turn ended; blank while it runs.
Ending = Literal["", "question", "offer", "done", "gave up", "partial", "answer", "waiting", "cut off"]
ENDINGS: tuple[Ending, ...] = get_args(Ending)[1:]

_END = 6_000  # Characters of the end of a message that are read.
_START = 400  # Characters of its beginning that are read for a report of failure.
_SENTENCES = 3  # Sentences outside lists at the end among which a question is looked for.
_ITEMS = 24  # List items at the end that are skipped to find the sentence before them.


class TurnEnding(NamedTuple):
    """How a turn ended, and the sentence that says so."""

    ending: Ending
    sentence: str = ""
    optional: bool = False  # The offer is a courtesy and needs no reply.


class _Sentence(NamedTuple):
    text: str
    item: bool  # It is in a list.
    heading: bool
    line: int = 0


_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n.*?^[ \t]*\1[ \t]*$", re.M | re.S)
_NOISE = re.compile(r"<!--.*?-->|^\s*\[[A-Z][\w -]*\]\s*$|^\s*\|.*\|\s*$|^\s*(?:[-=_*─━═]\s*){3,}$", re.M | re.S)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
# Code, addresses, and what is quoted or set off in the middle of a sentence.
_CODE = re.compile(
    r"`[^`\n]*`|https?://\S+|“[^”\n]{0,200}[?!.]”(?!$)|\"[^\"\n]{0,200}[?!.]\"(?!\s*$)"
    r"|\*[^*\n]{0,200}[?!.]\*{1,2}(?=\s+[a-z])"
)
_STYLE = re.compile(r"\*{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)")
_ONLY_LINK = re.compile(r"https?://\S+")
_ITEM = re.compile(r"^\s*(?:[-*+•‣–—]\s+|\(?(?:\d{1,2}|[A-Za-z])[.)、:：]\s+|(?:Option|方案|案)\s*\w{1,2}\b)")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_BREAK = re.compile(
    r"(?<=[.!?…])\s+(?=\S)|(?<=[.!?…][\"'”’)\]])\s+(?=[^a-z\s])|(?<=[。！？])(?![」』”’）)])\s*(?=\S)"
    r"|(?<=؟)\s+(?=\S)"
)
# Stand-ins for marks inside code, links and abbreviations, which end no sentence.
_HIDDEN = str.maketrans(".?!", "\ue000\ue001\ue002")
_SHOWN = str.maketrans("\ue000\ue001\ue002", ".?!")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no|ca|bzw|z\.B|p\. ?ex)\.(?=\s)", re.I)
_QUESTION = re.compile(r"[?？؟][)）\]\s😀-🙏✨]*$")
_KOREAN_QUESTION = re.compile(r"(?:까요|나요|습니까|ㄹ까요|인가요|을까|할까)[.?？!]*$")
_CJK_QUESTION = re.compile(r"(?:吗|嗎|呢|ますか|ですか|でしょうか|ませんか)[。.!！]*$")


_ALTERNATIVES = sections(Path(__file__).with_suffix(".txt"))
_PHRASES = {name: f"(?:{'|'.join(lines)})" for name, lines in _ALTERNATIVES.items()}
_GREETING = re.compile(_PHRASES["greeting"] + r"\b", re.I)
_COURTESY = re.compile(_PHRASES["courtesy"], re.I)
_OFFER = re.compile(_PHRASES["offer"], re.I)
# A question at the very end of a message that lacks its question mark.
_INVERTED = re.compile(
    r"(?:do|does|did|should|shall|can|could|would|will|is|are|was|were|have|has)"
    r" (?:i|we|you|it|this|that|they|these|those|there)\b[^.!?:]*$",
    re.I,
)
# The beginning of a question that cannot be answered with yes or no.
_CHOICE = re.compile(r"(?:what|which|where|when|who|how)\b", re.I)
_REQUEST = re.compile(_PHRASES["request"].replace("VERBS", "|".join(_ALTERNATIVES["verbs"])), re.I)
_ASKING_HEADING = re.compile(_PHRASES["heading"], re.I)
_RHETORICAL = re.compile(
    r"^(?:why|so why|the (?:result|catch|reason|problem|fix)"
    r"|what (?:changed|this means|does (?:this|that) mean)|how it works)\b[^?]{0,40}\?$",
    re.I,
)
# How a sentence begins that answers the question before it.
_ANSWER = re.compile(r"(?:also |and )?(?:yes|no|not|none|nothing|because|same|never|always|是的|はい|いいえ)\b", re.I)
# Words that lead to a list of questions for the person.
_TO_THE_PERSON = re.compile(
    r"(?-i:[\u2e80-\uffff])|\b(?:you|your|i|me|we|us|let's|before|need|confirm\w*|clarif\w*|decid\w*|decisions?|answer)\b",
    re.I,
)
_QUESTIONS = re.compile(r"\b(?:questions?|pergunt\w+|pregunt\w+|fragen?)\b", re.I)


def judge_words(text: str) -> TurnEnding:
    """Judge the last words alone: a question, an offer, or blank if they ask for nothing."""
    sentences = _last_sentences(text)
    if not sentences:
        return TurnEnding("")
    short = len(text) < 240
    if short and _GREETING.match(text.lstrip("*_#> ")) and _QUESTION.search(sentences[-1].text):
        return TurnEnding("answer", sentences[-1].text)
    tail = _tail(sentences)
    offer = courtesy = None
    for place in range(len(tail) - 1, -1, -1):
        sentence, text = tail[place], tail[place].text
        is_asking = _is_question(sentence) or (sentence is sentences[-1] and bool(_INVERTED.match(text)))
        is_asking = is_asking and not _is_only_content(tail, place)
        if is_asking and _COURTESY.search(text):
            courtesy = place if courtesy is None else courtesy
        elif is_asking:
            offers = _OFFER.search(text) and not _CHOICE.match(text)
            return TurnEnding("offer" if offers else "question", text)
        elif sentence.item and sentence is not tail[-1]:
            continue
        elif _COURTESY.search(text):
            courtesy = place if courtesy is None else courtesy
        elif _REQUEST.search(text):
            return TurnEnding("question", text)
        elif sentence.heading and _ASKING_HEADING.search(text) and sentence is not tail[-1]:
            return TurnEnding("question", tail[place + 1].text)
        elif _OFFER.search(text) and all(one.item for one in tail[place + 1 :]):
            offer = place
    last = courtesy if offer is None else offer
    return TurnEnding("") if last is None else TurnEnding("offer", _longer(tail[: last + 1]), optional=True)


def _is_question(sentence: _Sentence) -> bool:
    text = sentence.text
    if sentence.heading or _RHETORICAL.match(text):
        return False
    return bool(_QUESTION.search(text) or _KOREAN_QUESTION.search(text) or _CJK_QUESTION.search(text))


def _is_only_content(tail: list[_Sentence], place: int) -> bool:
    """Whether a question is answered at once, or is an item of a list that is about something else."""
    sentence, after = tail[place], tail[place + 1 : place + 2]
    if after and after[0].line == sentence.line and _ANSWER.match(after[0].text):
        return True
    plain = [one for one in tail[:place] if not one.item] if sentence.item else []
    lead = " ".join(one.text for one in plain if one.line == plain[-1].line)
    goes_on = any(not one.item for one in tail[place + 1 :])
    leads = _TO_THE_PERSON.search(lead) or (_QUESTIONS.search(lead) and not goes_on)
    return lead.endswith(":") and not leads


def _tail(sentences: list[_Sentence]) -> list[_Sentence]:
    """The last sentences, with the list items among and after them and the sentence that leads to those."""
    plain = items = 0
    start = len(sentences)
    for sentence in reversed(sentences):
        if sentence.item:
            items += 1
            if items > _ITEMS:
                break
        elif not sentence.heading:
            plain += 1
            if plain > _SENTENCES:
                break
        start -= 1
    return sentences[start:]


@lru_cache(maxsize=2)
def _last_sentences(text: str) -> list[_Sentence]:
    """The sentences at the end of a message, outside code blocks."""
    return _sentences(_FENCE.sub("\n", text)[-_END:])


def _sentences(text: str) -> list[_Sentence]:
    text = _CODE.sub(_without_ends, text)
    text = _ABBREVIATION.sub(_without_ends, _STYLE.sub("", _NOISE.sub(" ", _LINK.sub(r"\1", text))))
    sentences: list[_Sentence] = []
    for number, line in enumerate(text.splitlines()):
        if not line.strip() or line.lstrip().startswith((">", "//", "✻")):
            continue
        item, heading = _ITEM.match(line), bool(_HEADING.match(line))
        body = line[item.end() :] if item else line.lstrip("# ")
        sentences += [
            _Sentence(part.strip().translate(_SHOWN), bool(item), heading, number)
            for part in _BREAK.split(body)
            if part.strip()
        ]
    return sentences


def _without_ends(match: re.Match[str]) -> str:
    """Code or an abbreviation with nothing in it that looks like the end of a sentence."""
    return match.group().translate(_HIDDEN)


_FAILED = re.compile(_PHRASES["failed"], re.I)
# A report of success without a word of failure before it.
_WORKED = re.compile(
    r"^(?:(?!\b(?:not?|none|nothing|never|cannot|unable|fail\w*|if)\b|n['’]t\b).)*"
    r"\b(?:works|worked|pass(?:es|ed)?|fixed|implemented|added|updated|migrated|created|completed|done|finished|merged|refactored)\b",
    re.I,
)
_PARTIAL = re.compile(_PHRASES["partial"], re.I)
_WAITING = re.compile(_PHRASES["waiting"], re.I)


_MADE = frozenset(("file_edit", "memory_write"))
_CHANGING = frozenset(("test", "build", "commit", "destructive"))
_CUT = frozenset(("max_tokens", "length"))
_TURNS = 8  # Answers looked through for one with words.
_SHORT = 20  # Characters below which a sentence is quoted with the one before it.
_LINE = 300  # Characters of a sentence that are quoted at most.


class TurnWork(NamedTuple):
    """The main agent's work since its last prompt, counted without its words."""

    calls: int = 0
    failures: int = 0
    changes: int = 0  # Edits, tests, builds and commits that succeeded.
    last_failed: int = 0  # Calls at the end that failed one after another.

    def after(self, call: ToolUse) -> TurnWork:
        """Count one more call that has an outcome."""
        if call.outcome == "pending":
            return self
        failed = call.outcome == "failure"
        changed = not failed and (call.action in _MADE or call.purpose in _CHANGING)
        return TurnWork(
            self.calls + 1,
            self.failures + failed,
            self.changes + (changed and call.outcome != "rejected"),
            self.last_failed + 1 if failed else 0,
        )

    @property
    def went_badly(self) -> bool:
        """Its last call failed, or most of its calls did."""
        return self.last_failed > 0 or (self.calls > 0 and 2 * self.failures > self.calls)

    @property
    def only_failed(self) -> bool:
        """Every one of several calls failed."""
        return self.calls >= _SENTENCES and self.failures == self.calls


def judge_turn(text: str, work: TurnWork = TurnWork(), stop: str = "") -> TurnEnding:  # noqa: B008
    """Judge a finished turn by its last words together with how its calls went."""
    if stop in _CUT:
        return TurnEnding("cut off", _last(text))
    if stop == "error":
        return TurnEnding("", first_line(text))
    if stop == GOAL_FAILED:
        return TurnEnding("gave up", next((one.text for one in _sentences(text)), ""))
    words = judge_words(text)
    if words.ending in ("question", "answer") or (words.ending == "offer" and not words.optional):
        return words
    sentences = [*_sentences(text[:_START])[:2], *_last_sentences(text)[-_SENTENCES:]]
    plain = [one.text for one in sentences if not one.item]
    failed = next((one for one in plain if _FAILED.search(one)), "")
    left = next((one for one in plain if _PARTIAL.search(one)), "") or failed
    bad = failed if work.changes else failed or left
    if bad and work.went_badly and not (work.changes and any(map(_WORKED.search, plain))):
        return TurnEnding("gave up", bad)
    if left and work.calls:
        return TurnEnding("partial", left)
    waits = next((one for one in plain[-_SENTENCES:] if _WAITING.search(one)), "")
    if waits:
        return TurnEnding("waiting", waits)
    if work.only_failed:
        return TurnEnding("partial", _last(text))
    if words.ending:
        return words
    return TurnEnding("done" if work.changes else "answer", _last(text))


def important_sentence(text: str) -> str:
    """The sentence of a message that matters most: what it asks or admits, else its last full sentence."""
    words = judge_words(text)
    return words.sentence if words.ending == "question" else _last(text)


def _last(text: str) -> str:
    """The last sentence outside lists and headings, else the last line with words."""
    sentences = [one for one in _last_sentences(text) if any(letter.isalnum() for letter in one.text)]
    if len(sentences) > 1 and _ONLY_LINK.fullmatch(sentences[-1].text):
        return f"{sentences[-2].text} {sentences[-1].text}"
    prose = [one for one in sentences if not one.item and not one.heading]
    whole = [one for one in prose if not one.text.endswith((":", "："))]
    return _longer(whole or sentences)


def _longer(sentences: Sequence[_Sentence]) -> str:
    """The last of some sentences, together with the one before it on its line if it says little alone."""
    if not sentences:
        return ""
    last, before = sentences[-1], sentences[-2:-1]
    if before and len(last.text) < _SHORT and before[0].line == last.line:
        return f"{before[0].text} {last.text}"
    return last.text


ASKING = ("question", "offer")


def evaluate_endings(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Compare judged endings with labels: `text`, `label` and, if known, `agent`, `id` and `work`.

    `work` counts calls, failures, changes and the failures in a row at the end.
    """
    table: dict[str, Counter[str]] = {}
    groups: dict[str, Counter[str]] = {}
    missed: list[str] = []
    false: list[str] = []
    for number, row in enumerate(rows, 1):
        text, label = str(row["text"]), str(row["label"])
        judged = judge_turn(text, TurnWork(*row.get("work", ()))).ending
        table.setdefault(label, Counter())[judged] += 1
        asks, claimed = label in ("asks", "offers"), judged in ASKING
        script = "other scripts" if sum(letter > "\u2e7f" for letter in text) > 20 else "Latin script"
        for group in ("all", script, f"agent {row.get('agent') or 'unknown'}"):
            counted = groups.setdefault(group, Counter())
            counted.update(endings=1, hits=asks and claimed, false=claimed and not asks, missed=asks and not claimed)
            counted.update(asks=label == "asks", asks_found=label == "asks" and claimed)
        if asks != claimed:
            (missed if asks else false).append(str(row.get("id") or number))
    return {
        "endings": sum(counted.total() for counted in table.values()),
        "labels": {label: dict(counted) for label, counted in sorted(table.items())},
        "groups": {name: _scores(counted) for name, counted in sorted(groups.items())},
        "missed": missed,
        "false": false,
    }


def _scores(counted: Counter[str]) -> dict[str, float | int | None]:
    def share(part: str, *whole: str) -> float | None:
        among = sum(counted[name] for name in whole)
        return round(counted[part] / among, 3) if among else None

    return {
        "endings": counted["endings"],
        "precision": share("hits", "hits", "false"),
        "recall": share("hits", "hits", "missed"),
        "asks": counted["asks"],
        "asks_recall": share("asks_found", "asks"),
    }


class EndingReader:
    """Judges the end of a session's turn from its log, once for each end."""

    __slots__ = ("_judged", "_reader")

    def __init__(self, logs: Sequence[Path] | None = ()) -> None:
        self._reader = WordReader(logs)
        self._judged: tuple[Turn, TurnWork, TurnEnding] | None = None

    def allow(self, logs: Sequence[Path]) -> None:
        """Let words be read from these logs."""
        if logs != self._reader.logs:
            self._reader.logs, self._judged = logs, None

    def judge(self, turns: Iterable[Turn], work: TurnWork) -> TurnEnding:
        """Judge the newest of some answers that has words; `turns` begins with the newest."""
        answers = list(turns)
        if not answers:
            return TurnEnding("")
        if self._judged is None or self._judged[0] is not answers[0] or self._judged[1] != work:
            self._judged = answers[0], work, judge_answers(answers, work, self._reader.words)
        return self._judged[2]


def judge_answers(turns: Sequence[Turn], work: TurnWork, read: Callable[[Event], Words]) -> TurnEnding:
    """Judge the newest of some answers that has words; the newest comes first."""
    for turn in turns:
        if text := read(turn).said:
            ending = judge_turn(text, work, turns[0].stop)
            return ending._replace(sentence=ending.sentence[:_LINE])
    return TurnEnding("")


def turn_of(backwards: Iterable[Event]) -> tuple[list[Turn], TurnWork]:
    """The main agent's last answers since its prompt, the newest first, and what it did since then."""
    turns: list[Turn] = []
    calls: list[ToolUse] = []
    for event in backwards:
        if event.agent != MAIN:
            continue
        if type(event) is Rollback or (type(event) is Prompt and not event.interrupt):
            break
        if type(event) is Turn and len(turns) < _TURNS:
            turns.append(event)
        elif type(event) is ToolUse:
            calls.append(event)
    work = TurnWork()
    for call in reversed(calls):
        work = work.after(call)
    return turns, work
