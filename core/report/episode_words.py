"""A stretch of work and a dream in a few words, for a person."""

from __future__ import annotations

from core.engine.mind.episode import ACTION_WORDS, OUTCOME_WORDS, Episode
from core.engine.mind.sleep import Dream
from core.report.formatting import count, plain


def episode_name(episode: Episode) -> str:
    """A few words for a stretch of work."""
    places = [
        name for name, _ in sorted(episode.signature, key=lambda one: -one[1]) if "/" in name or "." in name
    ]
    where = f" in {plain(places[0], 40)}" if places else ""
    did = ACTION_WORDS[episode.action]
    end = "" if episode.outcome == "flat" else OUTCOME_WORDS[episode.outcome]
    failed = f", {episode.failures} of {episode.calls} failed" if episode.failures else ""
    return f"{did}{where}{' ' + end if end else ''}{failed}"


def task_words(name: str) -> str:
    """What a stretch of work was about: a folder as it is, an action in words."""
    return next((words for action, words in ACTION_WORDS.items() if action == name), name)


def dream_sentence(dream: Dream) -> str:
    """What a dream did, for a person."""
    why = "the agent's context was cut" if dream.reason == "compaction" else "much had piled up"
    counted = (
        (dream.compressed, "episode", "summed up"),
        (dream.expired, "stale item", "dropped"),
        (dream.forgotten, "faded habit", "forgotten"),
    )
    parts = [f"{count(number, what)} {how}" for number, what, how in counted if number]
    did = ", ".join(parts) or "there was nothing to tidy"
    return f"Because {why}: {did}."
