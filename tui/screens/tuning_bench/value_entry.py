"""The line one types in: what it asks for, and what becomes of the answer."""

from __future__ import annotations

from typing import Literal, NamedTuple

from core.settings.draft import (
    MISSING,
    Editing,
    TablePath,
    TableRow,
    item_at,
    key_fault,
    leaf_at,
    parse_value,
    shape_of,
    value_text,
)
from core.settings.layers import tunables
from core.timeline.timeline import Timeline
from tui.widgets.tuning.settings_list import suggested_keys, usual_value

_NOUNS = {"response.loops.tools": ("tool or program", "detector"), "governor.override": ("figure",)}


class ValueQuestion(NamedTuple):
    """What is to be typed, and what helps with it."""

    what: Literal["value", "key", "word"]
    name: str
    path: TablePath = ()  # Of a value its row, of a key what it is put into, of a word its place in the list.
    hint: str = ""
    text: str = ""  # What stands on the line to begin with.
    words: tuple[str, ...] = ()  # Words to choose from.

    @property
    def inside(self) -> TablePath:
        """The rows that a new key is put into."""
        return self.path if self.what == "key" else ()

    @property
    def noun(self) -> str:
        """What kind of key or word is asked for."""
        nouns = _NOUNS.get(self.name, ("key" if shape_of(self.name).form == "map" else "word",))
        return nouns[min(len(self.inside), len(nouns) - 1)]


class Accepted(NamedTuple):
    """The draft holds what was typed, there."""

    name: str
    path: TablePath = ()


Answer = Accepted | ValueQuestion | str  # Done, a further question, or why it was refused.


class ValueEntry:
    """Questions about the settings of one draft and their answers."""

    def __init__(self, editing: Editing) -> None:
        self._editing = editing
        self.question = ValueQuestion("value", "")  # What the line asks for now.

    def ask_value(self, name: str, row: TableRow | None = None) -> ValueQuestion:
        """For the value of a setting, of a whole table, or of a row."""
        if row is not None:
            return self._ask(ValueQuestion("value", name, row.path, row.leaf.allowed(), value_text(row.item)))
        now = value_text(self._editing.draft.value(name))
        return self._ask(ValueQuestion("value", name, (), tunables()[name].allowed(), now))

    def ask_row(self, name: str, path: TablePath, recording: Timeline | None) -> ValueQuestion:
        """For the key of a new row, or for a new word of a list."""
        value = self._editing.draft.value(name)
        bare = ValueQuestion("word" if shape_of(name).form == "list" else "key", name, path)
        there = value if bare.what == "word" else item_at(value, path)
        last = len(bare.inside) + 1 == len(shape_of(name).levels)
        existing = there if there is not MISSING and last else ()
        words = tuple(each for each in suggested_keys(name, bare.inside, recording) if each not in existing)
        return self._ask(bare._replace(hint=bare.noun, words=words))

    def answer(self, text: str, fitting: tuple[str, ...], recording: Timeline | None) -> Answer:
        """Take what was typed; `fitting` are the words offered that go with it."""
        question = self.question
        if question.what == "key":
            return self._key(question, text, fitting, recording)
        if question.what == "word":
            return self._word(question, text)
        if question.path:
            return self._row(question.name, question.path, text)
        problem = self._editing.set(question.name, parse_value(tunables()[question.name], text))
        return problem or Accepted(question.name)

    def _ask(self, question: ValueQuestion) -> ValueQuestion:
        self._editing.end_nudges()
        self.question = question
        return question

    def _key(self, question: ValueQuestion, key: str, fitting: tuple[str, ...], recording: Timeline | None) -> Answer:
        """Put a row under a key; where more than a key is needed, ask for that."""
        name, levels = question.name, shape_of(question.name).levels
        names = levels[len(question.path)]
        if key and names and len(fitting) == 1:
            key = fitting[0]
        path = (*question.path, key)
        if problem := key_fault(names, key):
            return problem
        if len(path) < len(levels):
            return self.ask_row(name, path, recording)
        if item_at(self._editing.draft.value(name), path) is not MISSING:
            return f"{key} already exists"
        usual = usual_value(name, path, self._editing.draft.drafted)
        if usual is None:
            return self._ask(ValueQuestion("value", name, path, leaf_at(name, path).allowed()))
        return self._editing.set_row(name, path, usual) or Accepted(name, path)

    def _word(self, question: ValueQuestion, word: str) -> Answer:
        table = self._editing.draft.value(question.name)
        place = question.path[0] if question.path and isinstance(question.path[0], int) else len(table)
        return self._editing.insert_word(question.name, place, word) or Accepted(question.name, (place,))

    def _row(self, name: str, path: TablePath, text: str) -> Answer:
        problem = self._editing.set_row(name, path, parse_value(leaf_at(name, path), text))
        return problem or Accepted(name, path)
