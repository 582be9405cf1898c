"""The line one types in: a value, a key with what could be meant, or a whole table."""

from __future__ import annotations

from textual.reactive import var

from tui.widgets.common.entry_line import EntryLine


class TypeLine(EntryLine):
    """An input that offers words: what was typed narrows them, arrows go through them."""

    offers: var[tuple[str, ...]] = var(())
    """Words that could be meant."""

    def __init__(self, *, id: str | None = None) -> None:
        self._stem = ""
        self._given: str | None = None
        super().__init__(enter="take it", escape="close", select_on_focus=True, id=id)

    @property
    def fitting(self) -> tuple[str, ...]:
        """Of the words offered those that go with what was typed, those that begin so first."""
        stem = self._stem.strip().casefold()
        begun = [word for word in self.offers if word.casefold().startswith(stem)]
        return (*begun, *(word for word in self.offers if stem in word.casefold() and word not in begun))

    def ask(self, hint: str, value: str = "", offers: tuple[str, ...] = ()) -> None:
        """Ask another question."""
        self.placeholder, self.offers = hint, offers
        self._stem, self._given = "", None
        self.value = value
        self.focus()
        self.refresh_bindings()

    def watch_value(self, value: str) -> None:
        """Tell what the person typed from a suggestion that was filled in."""
        if value != self._given:
            self._stem, self._given = value, None

    def offer(self, by: int) -> None:
        """Put the next word that fits on the line."""
        words = self.fitting
        if words:
            at = words.index(self.value) + by if self.value in words else 0 if by > 0 else -1
            self._give(words[at % len(words)])

    def _give(self, word: str) -> None:
        self._given = word
        self.value = word
        self.cursor_position = len(word)
