"""What is told in prose: a stretch of a session, why it is stuck, names for its episodes, its last dream."""

from __future__ import annotations

from core.engine.mind.cortical import Tier
from core.events import MAIN
from core.extras.narrator.facts import Fact, stretch_facts, stuck_facts
from core.extras.narrator.router import Router, Told
from core.extras.narrator.templates import Claim, told_recap, told_why
from core.report.event_words import dream_sentence, episode_name
from core.timeline.timeline import Timeline


def tell_recap(router: Router, timeline: Timeline, start: int, stop: int, most: Tier = "T2") -> Told:
    """What happened between two places."""
    facts = stretch_facts(timeline, start, stop)
    return router.tell("recap", facts, timeline.at(stop), told_recap(facts), most)


def tell_why(router: Router, timeline: Timeline, stop: int, most: Tier = "T2") -> Told:
    """Why the session is stuck at a place, or that it is not."""
    facts = stuck_facts(timeline, stop)
    return router.tell("why", facts, timeline.at(stop), told_why(facts), most)


def tell_episodes(router: Router, timeline: Timeline, stop: int, most: Tier = "T2") -> Told:
    """A name for each stretch of work that is remembered; a claim cites the episode's own number."""
    kept = timeline.society_at(stop).engine(MAIN).mind.heart.episodes.history[-20:]
    facts = [Fact(one.number, episode_name(one), "episode") for one in kept]
    template = [Claim(fact.words, (fact.number,)) for fact in facts]
    return router.tell("episode", facts, timeline.at(stop), template, most)


def tell_dream(router: Router, timeline: Timeline, stop: int, most: Tier = "T2") -> Told:
    """What the last dream did."""
    frame = timeline.at(stop)
    dreams = frame.mind.dreams
    if not dreams:
        return Told(
            (Claim("Nothing has been dreamt yet.", ()),), "T0", "templates", "there is nothing to tell"
        )
    place = max(1, timeline.index_at(dreams[-1].at))
    words = dream_sentence(dreams[-1])
    return router.tell("dream", [Fact(place, words, "dream")], frame, [Claim(words, (place,))], most)
