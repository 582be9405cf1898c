"""How turns end, judged from their last words and outcomes."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

import core.report.turn_endings as rules
from core.report.turn_endings import TurnWork, evaluate_endings, judge_turn, judge_words

LABELLED = Path(__file__).parents[4] / "shared" / "data" / "turn_ends" / "dev.jsonl"
FAILED = TurnWork(10, 10, 0, 10)
WORKED = TurnWork(6, 1, 3, 0)


@pytest.mark.parametrize(
    ("text", "work", "ending", "quoted"),
    [
        ("It is missing.\n\nShould I create missing.py from scratch?", FAILED, "question", "Should I create"),
        ("Which one?\n\n1. Keep it.\n2. Drop it.", WORKED, "question", "Which one?"),
        ("I need the key. Please paste it into `.env`.", WORKED, "question", "Please paste"),
        ("Here is the plan.\n\nLet me know which option you prefer.", WORKED, "question", "Let me know which"),
        ("已经找到原因。需要我现在修复吗", WORKED, "question", "需要我现在修复吗"),
        ("请把日志贴给我看。", WORKED, "question", "请把日志"),
        ("直しました。どちらで進めますか？", WORKED, "question", "どちらで"),
        ("수정했습니다. 계속 진행할까요?", WORKED, "question", "계속"),
        ("Aguardo sua confirmação antes de prosseguir.", WORKED, "question", "Aguardo"),
        ("هل أتابع؟", WORKED, "question", "هل"),
        ("Fixed. If you want, I can also add a test.", WORKED, "offer", "If you want"),
        ("Fixed. Is there anything else you need?", WORKED, "offer", "anything else"),
        ("Fixed the bug; all 31 tests pass.", WORKED, "done", "all 31"),
        ("The flag is read in `cli.py`.", TurnWork(2, 0, 0, 0), "answer", "The flag"),
        ("Hello! How can I help you today?", TurnWork(), "answer", "How can I"),
        ("I could not make it work.", FAILED, "gave up", "I could not"),
        ("I could not find a single remaining use of it.", TurnWork(), "answer", "I could not"),
        ("Fixed, but the build could not be verified here.", WORKED, "partial", "could not be verified"),
        ("Tests run in CI. I'll check back when the pipeline finishes.", WORKED, "waiting", "I'll check back"),
        ("Run `grep -q ok?` first.\n\n```\nwhat? really?\n```\nAll good.", WORKED, "done", "All good."),
        ('The chat now answers "who is most active?" correctly.', WORKED, "done", "The chat"),
        ('The chat will answer "who is it?" and more.', WORKED, "done", "who is it?"),
        ("Is it safe? Yes: nothing imports it. Was it before? No.", WORKED, "done", "No."),
        ("The page has these entries:\n\n- How do I start?\n- Can I stop?", WORKED, "done", "Can I"),
        ("The survey asks three questions:\n\n1. Who?\n2. When?\n\nIt is in `a.json`.", WORKED, "done", "It is in"),
        ("Three questions before I start:\n\n1. Keep v1?\n2. Who pays?", WORKED, "question", "Who pays?"),
        ("Docker is not running. Start it, or say that I should skip it.", WORKED, "question", "Start it"),
        ("It is of type 'float' now.", WORKED, "done", "of type"),
        ("Which one would you like to do next?", WORKED, "question", "Which one"),
        ("Two ways are left. Should I go on with the first", WORKED, "question", "Should I go on"),
        ("Serve it with `http.server` if you want to test it.", WORKED, "done", "Serve it"),
        ("More themes are easy to add. Just let me know!", WORKED, "offer", "More themes are easy"),
        ("All done! What's next on the agenda?", WORKED, "offer", "What's next"),
        ("Published it:\n\nhttps://example.org/a?b=c", WORKED, "done", "Published it: https://example.org/a?b=c"),
        ("Committed as `a?.b`.\n\n[REDACTED]", WORKED, "done", "Committed as `a?.b`."),
        (f"```\n{'a line?' * 1_000}\n```\nThat is all of it.", WORKED, "done", "That is all of it."),
    ],
)
def test_an_ending_follows_from_words_and_outcomes(text: str, work: TurnWork, ending: str, quoted: str) -> None:
    judged = judge_turn(text, work)
    assert judged.ending == ending
    assert quoted in judged.sentence


@pytest.mark.parametrize(
    ("text", "work", "ending"),
    [
        ("I will not force-push without your explicit OK.", WORKED, "question"),
        ("No: without your approval flag set, it deletes nothing.", WORKED, "done"),
        ("I'll hold the release until you confirm the changelog.", WORKED, "question"),
        ("Ohne deine Freigabe führe ich sie nicht aus.", WORKED, "question"),
        ("Merci de m'indiquer la version cible.", WORKED, "question"),
        ("Necesito saber qué rama debo usar antes de seguir.", WORKED, "question"),
        ("Ho bisogno di sapere quale versione usate.", WORKED, "question"),
        ("Мне нужно ваше подтверждение.", WORKED, "question"),
        ("需要你提供密钥，我才能继续。", WORKED, "question"),
        ("Se vuoi, posso anche aggiornare il README.", WORKED, "offer"),
        ("Если хотите, могу обновить README.", WORKED, "offer"),
        ("Want me to open a pull request as well?", WORKED, "offer"),
        ("Ich konnte das Problem nicht beheben.", FAILED, "gave up"),
        ("Je n'arrive pas à compiler le projet.", FAILED, "gave up"),
        ("Non sono riuscito a far partire il server.", FAILED, "gave up"),
        ("Мне не удалось исправить ошибку.", FAILED, "gave up"),
        ("我尝试了三种方法，但都失败了。", FAILED, "gave up"),
        ("Vorher konnte der Client nicht verbinden. Jetzt laufen alle Tests.", WORKED, "done"),
        ("以前は保存できませんでしたが、今は正しく動きます。", WORKED, "done"),
        ("Zwei Tests schlagen noch fehl.", WORKED, "partial"),
        ("Dos pruebas aún fallan.", WORKED, "partial"),
        ("結合テストが2件まだ失敗しています。", WORKED, "partial"),
        ("The last two still do not compile.", WORKED, "partial"),
        ("Ich warte auf sein Ergebnis.", WORKED, "waiting"),
        ("ビルドの完了を待っています。", WORKED, "waiting"),
        ("J'attends la fin du build.", WORKED, "waiting"),
        ("The server now waits for the worker.", WORKED, "done"),
        ("Das Skript wartet jetzt auf den Server.", WORKED, "done"),
        ("Please enter the code from your app, then tell me to continue.", WORKED, "question"),
        ("I need a decision on that before I can write the handler.", WORKED, "question"),
        ("It rewrites history for everyone. I'd like an explicit go-ahead for that.", WORKED, "question"),
        ("If that's fine, say so and I'll add it; otherwise name another.", WORKED, "question"),
        ("That is irreversible, so I'm pausing here for a yes or no from you.", WORKED, "question"),
        ("I lack information. Specifically:\n1. Which region?\n2. Is it versioned?", WORKED, "question"),
        ("## Decision needed\n\nEither we keep a shim, or we break them.\n\nI would keep it.", WORKED, "question"),
        ("## Decision needed\n\nNone.\n\n## Result\n\nIt works. It is fast. It is done.", WORKED, "done"),
        ("This will deploy to production — confirm and I'll press the button.", WORKED, "question"),
        ("Someone has to add the token. Ping me when it's there and I'll try again.", WORKED, "question"),
        ("I'm going to need a sample of the file to go further. Five rows would do.", WORKED, "question"),
        ("Possible follow-ups if you're interested:\n- dashboards\n- a replay", WORKED, "offer"),
        ("비밀번호가 필요합니다. 알려주시면 계속 진행하겠습니다.", WORKED, "question"),
        ("ご希望であれば、READMEも更新します。", WORKED, "offer"),
        ("Je peux aussi ajouter un mode sombre si ça t'intéresse.", WORKED, "offer"),
        ("Jeśli chcesz, mogę też zaktualizować dokumentację.", WORKED, "offer"),
        ("Please note that the server must be restarted.", WORKED, "done"),
        ("I replaced *Could not connect. Retry?* with one that names the host.", WORKED, "done"),
        ("I set the timeout to 30 s. You may need to restart the server.", WORKED, "done"),
        ("The worker half is still red: 2 of 9 tests fail.", WORKED, "partial"),
        ("The remaining three still use the old client.", WORKED, "partial"),
        ("Password reset isn't done yet, because its template is missing.", WORKED, "partial"),
        ("Done with the backend. Frontend is not started.", WORKED, "partial"),
        ("8 of 11 tests pass now. The others need the database.", WORKED, "partial"),
        ("8 of 8 tests pass now.", WORKED, "done"),
        ("I can't complete this: it needs a network that is not there.", FAILED, "gave up"),
        ("J'ai essayé trois approches, aucune ne fonctionne.", FAILED, "gave up"),
        ("Results should arrive in a few minutes; I'll combine them then.", WORKED, "waiting"),
        ("This didn't work. There is no wheel for this Python.", FAILED, "gave up"),
        ("The image is building. I'll check the result when it finishes.", WORKED, "waiting"),
        ("Deployment is in progress. I will check again in five minutes.", WORKED, "waiting"),
    ],
)
def test_endings_in_many_languages(text: str, work: TurnWork, ending: str) -> None:
    assert judge_turn(text, work).ending == ending


def test_giving_up_takes_words_and_outcomes() -> None:
    words = "I could not make it work."
    assert judge_turn(words, WORKED).ending == "partial"
    assert judge_turn("All done.", FAILED).ending == "partial"
    assert judge_turn(words, FAILED).ending == "gave up"
    assert judge_turn("The build still fails with that error.", FAILED).ending == "gave up"
    most = "The reader works and is tested. The page does not: I could not find out why."
    assert judge_turn(most, TurnWork(9, 2, 3, 1)).ending == "partial"


def test_an_answer_at_the_length_limit_is_cut_off() -> None:
    assert judge_turn("and then the", WORKED, "max_tokens").ending == "cut off"


def test_an_error_has_no_ending_and_is_quoted_from_its_first_line() -> None:
    judged = judge_turn("BadRequest: no such model\nShould I retry?", WORKED, "error")
    assert judged == ("", "BadRequest: no such model", False)


@pytest.mark.skipif(not LABELLED.exists(), reason="labelled endings are not here")
def test_questions_and_offers_are_found_in_labelled_endings() -> None:
    counted: Counter[tuple[str, str]] = Counter()
    for line in LABELLED.read_text().splitlines():
        row = json.loads(line)
        counted[row["label"], judge_words(row["text"]).ending] += 1
    asking, said = ("asks", "offers"), ("question", "offer")
    hits = sum(counted[label, ending] for label in asking for ending in said)
    claimed = sum(number for (_, ending), number in counted.items() if ending in said)
    labelled = sum(number for (label, _), number in counted.items() if label in asking)
    asks = sum(number for (label, _), number in counted.items() if label == "asks")
    assert hits / claimed >= 0.88
    assert hits / labelled >= 0.80
    assert counted["asks", "question"] / asks >= 0.88


def _alternatives(pattern: str) -> list[str]:
    """The parts of a pattern of the form `(?:a|b|c)`."""
    parts, depth, start, body = [], 0, 0, pattern[3:-1]
    inside = False
    place = 0
    while place < len(body):
        letter = body[place]
        if letter == "\\":
            place += 1
        elif inside:
            inside = letter != "]"
        elif letter == "[":
            inside = True
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "|" and not depth:
            parts.append(body[start:place])
            start = place + 1
        place += 1
    return [*parts, body[start:]]


@pytest.mark.skipif(not LABELLED.exists(), reason="labelled endings are not here")
def test_the_rules_do_not_hang_on_single_repositories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ending is judged again without the rules that no ending of another repository needs."""
    rows = [json.loads(line) for line in LABELLED.read_text().splitlines()]
    tails = [[one.text for one in rules._tail(rules._last_sentences(row["text"]))] for row in rows]
    parts = {name: _alternatives(getattr(rules, name).pattern) for name in ("_COURTESY", "_OFFER", "_REQUEST")}
    users = {
        (name, part): {
            row["repo_or_file"]
            for row, tail in zip(rows, tails, strict=True)
            if any(re.search(part, one, re.I) for one in tail)
        }
        for name, alternatives in parts.items()
        for part in alternatives
    }
    counted: Counter[tuple[str, bool]] = Counter()
    for row in rows:
        for name, alternatives in parts.items():
            others = [part for part in alternatives if users[name, part] - {row["repo_or_file"]}]
            monkeypatch.setattr(rules, name, re.compile(f"(?:{'|'.join(others)})", re.I))
        counted[row["label"], judge_words(row["text"]).ending in ("question", "offer")] += 1
    hits = counted["asks", True] + counted["offers", True]
    found = sum(number for (_, asking), number in counted.items() if asking)
    assert hits / found >= 0.9
    assert hits / (hits + counted["asks", False] + counted["offers", False]) >= 0.85
    assert counted["asks", True] / (counted["asks", True] + counted["asks", False]) >= 0.9


def test_endings_are_scored_by_group() -> None:
    rows: list[dict[str, object]] = [
        {"text": "Should I go on?", "label": "asks", "agent": "a"},
        {"text": "All is done.", "label": "asks", "agent": "a", "id": "x"},
        {"text": "要继续吗？" + "字" * 30 + "。要继续吗？", "label": "offers", "agent": "b"},
        {"text": "Which one?", "label": "done", "agent": "b", "id": "y"},
        {"text": "I could not make it work.", "label": "failed", "work": [3, 3, 0, 3]},
    ]
    scored = evaluate_endings(rows)
    assert scored["labels"]["failed"] == {"gave up": 1}
    assert (scored["missed"], scored["false"]) == (["x"], ["y"])
    assert scored["groups"]["all"] == {"endings": 5, "precision": 0.667, "recall": 0.667, "asks": 2, "asks_recall": 0.5}
    assert scored["groups"]["other scripts"]["recall"] == 1.0
