"""An invented project: files that can be read, edited and searched, all made of its own words."""

from __future__ import annotations

from sample_sessions.stage.dice import Dice
from sample_sessions.stage.templates import BLOCKS, HEADS

_SAME = {"mjs": "ts"}
_TESTING = ("def test_", "describe(", "func Test", "#[test]")


class World:
    """The files of one project; a file comes into being when it is first looked at."""

    def __init__(self, name: str, nouns: str, verbs: str, *, test: str, size: int = 1) -> None:
        self.name = name
        self.root = f"/home/dev/{name}"
        self._size = size
        self.test = test  # The command that runs the tests.
        self._nouns = nouns.split()
        self._verbs = verbs.split()
        self._files: dict[str, str] = {}

    def text(self, path: str) -> str:
        """A file as it now is."""
        if path not in self._files:
            dice = Dice(f"{self.name}/{path}")
            kind = _ending(path)
            folder = path.rpartition("/")[0].rpartition("/")[2] or "main"
            blocks = [self._filled(HEADS[kind].replace("{folder}", folder), dice)]
            blocks += [self.block(path, dice) for _ in range(self._size * (8 + dice.below(15)))]
            self._files[path] = "\n\n".join(blocks)
        return self._files[path]

    def put(self, path: str, text: str) -> None:
        """Write a whole file."""
        self._files[path] = text

    def replace(self, path: str, old: str, new: str) -> None:
        """Edit a file."""
        self._files[path] = self.text(path).replace(old, new, 1)

    def block(self, path: str, dice: Dice) -> str:
        """A piece of text that would fit into a file."""
        blocks = BLOCKS[_ending(path)]
        fitting = [block for block in blocks if any(word in block for word in _TESTING) == ("test" in path)]
        return self._filled(dice.pick(fitting or blocks), dice)

    def change(self, path: str, dice: Dice) -> tuple[str, str]:
        """Lines of a file and what they could be turned into."""
        lines = self.text(path).split("\n")
        long = [place for place, line in enumerate(lines) if len(line.strip()) > 12]
        first = dice.pick(long)
        old = "\n".join(lines[first : first + 1 + dice.below(4)])
        return old, f"{old}\n{self.block(path, dice)}"

    def hits(self, pattern: str, paths: tuple[str, ...]) -> str:
        """What a search prints for these files."""
        hits = []
        for path in paths:
            lines = self.text(path).split("\n")
            dice = Dice(f"{pattern}/{path}")
            for _ in range(1 + dice.below(3)):
                number = dice.below(len(lines))
                hits.append(f"{path}:{number + 1}:{lines[number].strip() or pattern}")
        return "\n".join(hits)

    def words(self, template: str, dice: Dice) -> str:
        """A sentence with this project's words put in."""
        return self._filled(template, dice)

    def _filled(self, template: str, dice: Dice) -> str:
        noun, other, verb = dice.pick(self._nouns), dice.pick(self._nouns), dice.pick(self._verbs)
        for key, word in (("noun", noun), ("other", other), ("verb", verb)):
            for name, put in ((key, word), (key.capitalize(), word.capitalize()), (key.upper(), word.upper())):
                template = template.replace(f"{{{name}}}", put)
        template = template.replace("{project}", self.name)
        while "{n}" in template:
            template = template.replace("{n}", str(2 + dice.below(96)), 1)
        return template


def _ending(path: str) -> str:
    kind = path.rpartition(".")[2]
    kind = _SAME.get(kind, kind)
    return kind if kind in BLOCKS else "md"
