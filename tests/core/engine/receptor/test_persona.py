"""The persona: statistics that point at nobody, and meetings that can be repeated."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.percept import AGENT_STATES, AXES, PATTERNS, Axis
from core.engine.receptor.persona import (
    FAMILIES,
    Domain,
    Persona,
    Technology,
    blend_of,
    encounter,
    genuine,
    likeness,
    make_persona,
    model_family,
    take_over,
    work_context,
)
from core.events import ACTIONS, Action
from core.settings.response import PersonaSettings

FIGURES = PersonaSettings()
ALWAYS = PersonaSettings(chance=1.0)
SHARES: dict[Action, float] = {"file_edit": 0.5, "shell_exec": 0.3, "file_read": 0.2}


def made(
    actions: Mapping[Action, float] = SHARES,
    model: str = "claude-opus-4",
    visits: tuple[tuple[str, int], ...] = (),
    snapshots: int = 5,
    confidence: float = 0.5,
    mean: float = 0.3,
    seconds: float = 4000.0,
) -> Persona | None:
    means: dict[Axis, float] = dict.fromkeys(AXES, mean)
    means["confidence"] = confidence
    return make_persona(
        model=model,
        sessions=3,
        mean=means,
        variance=0.2,
        snapshots=snapshots,
        seconds=seconds,
        field_adjustment={"frustration": -0.06},
        learned_delta={"seeking": 0.1},
        patterns={"implementation": 1.0},
        states={"deep_work": 1.0},
        actions=actions,
        context=work_context(visits),
        settings=FIGURES,
    )


def persona(actions: Mapping[Action, float] = SHARES, **more: float) -> Persona:
    one = made(actions, **more)  # type: ignore[arg-type]
    assert one is not None
    return one


@pytest.mark.parametrize(("snapshots", "confidence", "exists"), [(2, 0.4, True), (1, 0.9, False), (5, 0.39, False)])
def test_a_session_that_says_too_little_leaves_none(snapshots: int, confidence: float, exists: bool) -> None:
    assert (made(snapshots=snapshots, confidence=confidence) is not None) is exists


WORDS = {
    *AXES, *PATTERNS, *AGENT_STATES, *ACTIONS, *FAMILIES, *Technology.__args__, *Domain.__args__,  # type: ignore[attr-defined]
    *(field for struct in ("origin", "emotion", "context", "session") for field in (struct,)),
    "model", "profile", "sessions", "mean", "dominant", "field_adjustment", "learned_delta", "patterns",
    "states", "actions", "technologies", "domains", "elapsed", "snapshots", "mean_confidence",
    "emotion_variance", "entropy",
}  # fmt: skip
"""Every word that may stand in a persona's file."""


@settings(max_examples=150)
@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.text(max_size=60), st.integers(0, 10**9)), max_size=8),
    st.floats(0, 1e12),
)
def test_nothing_identifying_can_get_in(model: str, visits: list[tuple[str, int]], seconds: float) -> None:
    """Whatever models, paths and names there are, a file holds words of closed lists, a hash and numbers."""
    real = [("/home/alice/acme-secret/src/payroll_bob.py", 9), ("acme/tests/x.tsx", 3), *visits]
    one = made(model=model, visits=tuple(real), seconds=seconds)
    assert one is not None
    text = msgspec.json.encode(one).decode()
    words = re.findall(r'"([^"]*)"', text)
    unknown = [word for word in words if word not in WORDS]
    assert unknown == [one.origin.profile]
    assert re.fullmatch(r"[0-9a-f]{32}", one.origin.profile)
    assert all(len(number) <= 9 for number in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text.replace(unknown[0], "")))
    assert all(re.fullmatch(r"[a-z0-9-]{1,30}", tag) for tag in (*one.context.technologies, *one.context.domains))
    assert len(one.context.technologies) <= 5 and len(one.context.domains) <= 3
    assert genuine(one)


def test_the_hash_is_of_the_statistics_not_of_who_made_them() -> None:
    one = made(visits=(("/home/alice/a.py", 3),))
    other = made(visits=(("/srv/bob/b.py", 3),))
    assert one == other


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("claude-opus-4-5", "claude"),
        ("ft:gpt-4o:acme-corp:payroll:x1", "gpt"),
        ("o3-mini", "gpt"),
        ("models/gemini-3-pro", "gemini"),
        ("acme-internal-7b", "other"),
        ("", "other"),
    ],
)
def test_of_a_model_only_its_line_is_told(model: str, line: str) -> None:
    assert model_family(model) == line


def test_a_forged_or_talkative_persona_is_no_persona() -> None:
    one = persona()
    assert not genuine(msgspec.structs.replace(one, patterns={"wandering": 0.5}))
    tree = msgspec.to_builtins(one)
    for place, word in (("context", {"technologies": ["alice"], "domains": []}), ("author", "alice")):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({**tree, place: word}, Persona)


@pytest.mark.parametrize(("alike", "blend"), [(1.0, 0.5), (0.81, 0.5), (0.8, 0.2), (0.5, 0.2), (0.49, 0.0), (0.0, 0.0)])
def test_likeness_decides_how_much_is_taken_over(alike: float, blend: float) -> None:
    assert blend_of(alike, FIGURES) == blend


def test_likeness_is_the_cosine_of_action_signatures() -> None:
    assert likeness(SHARES, SHARES) == pytest.approx(1.0)
    assert likeness({"search": 1.0}, {"file_edit": 1.0}) == 0.0
    assert likeness({"search": 1.0}, {"search": 1.0, "file_edit": 1.0}) == pytest.approx(0.5**0.5)
    assert likeness({}, SHARES) == 0.0


def test_the_most_alike_of_those_met_is_taken() -> None:
    kin, stranger = persona(), persona({"search": 1.0})
    met = encounter([stranger, kin], SHARES, 7, ALWAYS)
    assert met is not None
    meeting, found = met
    assert found == kin
    assert (meeting.profile, meeting.seed, meeting.blend, meeting.met) == (kin.origin.profile, 7, 0.5, 2)


def test_an_encounter_is_by_chance_and_its_seed_repeats_it() -> None:
    folder = [persona(mean=0.01 * number) for number in range(30)]
    meetings = [encounter(folder[:1], SHARES, seed, FIGURES) for seed in range(400)]
    share = sum(each is not None for each in meetings) / 400
    assert 0.2 < share < 0.4
    for seed in (1, 2, 3):
        first = encounter(folder, SHARES, seed, FIGURES)
        assert first == encounter(list(reversed(folder)), SHARES, seed, FIGURES)
    assert encounter(folder, SHARES, 1, PersonaSettings(chance=0.0)) is None


def test_taking_over_leans_and_never_replaces() -> None:
    one = persona(mean=0.8)
    leaned = take_over({"seeking": 0.2}, one, 0.5)
    assert leaned["seeking"] == pytest.approx(0.5)
    assert take_over({"seeking": 0.2}, one, 0.0)["seeking"] == 0.2


def test_tags_come_from_endings_alone() -> None:
    context = work_context(
        [("src/a.py", 5), ("web/b.tsx", 9), ("tests/test_a.py", 1), ("Dockerfile", 1), ("x.zzz", 99)]
    )
    assert context.technologies == ("typescript", "python", "docker")
    assert context.domains == ("frontend", "backend", "infrastructure")
