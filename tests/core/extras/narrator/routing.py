"""A router with a store, a cache and a clock of its own, and facts to tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.engine.society.engine import Frame
from core.extension import Registry
from core.extras.narrator.facts import Claim, Fact
from core.extras.narrator.router import Router, Told
from core.settings import Settings
from core.settings.layers import Given, Layer, resolve
from core.store.model_spend import SpendStore
from core.store.reading_cache import ReadingCache
from tests.core.extras.narrator.made_up_model import MadeUpModel, answer, claims

FACTS = [Fact(3, 'the person asked: "fix it"', "asked"), Fact(9, "Bash npm test failed 4 times", "failed")]
TEMPLATE = (Claim("Bash npm test failed 4 times.", (9,)),)
GOOD = answer(claims(("The tests fail.", [9]), ("It was asked to fix it.", [3, 9])))
NOW = 1_700_000_000.0


def settings_with(**given: Any) -> Settings:
    values = {"on": True, "retries": 0, "timeout": 5.0, **given}
    layer = Layer("test", tuple(Given(f"narrator.{name}", value) for name, value in values.items()))
    found = resolve([layer])
    assert not found.complaints, found.complaints
    return found.settings


def words(model: MadeUpModel, kind: str = "openai", name: str = "tiny") -> str:
    return f"{kind} {name} http://127.0.0.1:{model.port}/v1"


class Bench:
    """A router with a store and a cache of its own, and a clock that a test moves."""

    def __init__(self, folder: Path, frame: Frame) -> None:
        self.store = SpendStore(folder / "spend.json")
        self.cache = ReadingCache(folder / "prose.db", 1_000_000)
        self.now = NOW
        self.slept: list[float] = []
        self.frame = frame
        self.registry = Registry()
        self.key = ""

    def tell(self, settings: Settings, facts: list[Fact] = FACTS, purpose: Any = "recap") -> Told:
        router = Router(
            settings,
            store=self.store,
            cache=self.cache,
            registry=self.registry,
            wall=lambda: self.now,
            sleep=self.slept.append,
            key=lambda _: self.key,
        )
        return router.write(purpose, facts, self.frame, TEMPLATE)


def by_template(told: Told) -> bool:
    return told.claims == TEMPLATE and told.tier == "T0" and told.who == "templates"
