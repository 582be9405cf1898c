"""Settings of the narrator: which models may put facts into prose, and what that may cost."""

from __future__ import annotations

from typing import Annotated

from core.settings.declared import Bounds
from core.settings.trust import PERSON
from core.settings.tunable import Group, part, tunable

ProviderWords = Annotated[
    str,
    Bounds(
        pattern=r"^(openai|anthropic) \S+( https?://[^\s/@]+(/\S*)?)?( [A-Z][A-Z0-9_]*)?$",
        max_length=300,
        words="`openai MODEL [ADDRESS] [VARIABLE]` or `anthropic MODEL [ADDRESS] [VARIABLE]`",
    ),
]
"""`KIND MODEL [ADDRESS] [VARIABLE]`: the variable of the environment that holds the key."""


class DemandSettings(Group, project=PERSON):
    """How much each request asks for, against the gate that chooses between no, a small and a large model."""

    why: float = tunable(0.7, "What an answer to `why is it stuck` asks for.", ge=0, le=2, step=0.05)
    recap: float = tunable(0.5, "What a recap in prose asks for.", ge=0, le=2, step=0.05)
    episode: float = tunable(0.4, "What names for episodes ask for.", ge=0, le=2, step=0.05)
    dream: float = tunable(0.4, "What the summary of a dream asks for.", ge=0, le=2, step=0.05)


class NarratorSettings(Group, project=PERSON):
    """Prose made by a model from facts; off, templates tell everything and nothing leaves the machine."""

    on: bool = tunable(False, "Let a model put facts into prose; redacted facts are then sent to it.")
    small: tuple[ProviderWords, ...] = tunable(
        (), "Small models, the next one where one fails: `openai qwen3:4b http://127.0.0.1:11434/v1`."
    )
    large: tuple[ProviderWords, ...] = tunable(
        (), "Large models, the same way: `anthropic claude-sonnet-4-5`; the key is in ANTHROPIC_API_KEY."
    )
    money: float = tunable(
        0.5,
        "What all nooscopes of this machine may spend on prose in a UTC day.",
        ge=0,
        le=1000,
        step=0.1,
        unit="$",
    )
    tokens: int = tunable(
        200_000,
        "Tokens all nooscopes of this machine may use for prose in a UTC day.",
        ge=0,
        le=1_000_000_000,
        step=10_000,
        unit="tokens",
    )
    answer: int = tunable(600, "Longest answer.", ge=50, le=8000, step=50, unit="tokens")
    facts: int = tunable(60, "Most facts sent with one request.", ge=5, le=500, step=5)
    timeout: float = tunable(
        20.0, "An answer that takes longer is given up.", ge=0.2, le=300, step=1, unit="s"
    )
    retries: int = tunable(1, "How often one model is tried again.", ge=0, le=5, step=1)
    pause: float = tunable(
        1.0, "Wait before the second try; doubled for each further one.", ge=0, le=60, step=0.5, unit="s"
    )
    breaker: int = tunable(3, "Failures in a row after which a model is left alone.", ge=1, le=100, step=1)
    rest: float = tunable(
        120.0, "For how long it is left alone; doubled each time.", ge=1, le=86_400, step=10, unit="s"
    )
    cache: int = tunable(20, "Most the kept answers may take.", ge=0, le=10_000, step=5, unit="MB")
    demand: DemandSettings = part(DemandSettings, "How much each request asks for.")
