"""Pieces of source text for invented projects; words of the project are put in."""

from __future__ import annotations

# By the ending of a file's name.
BLOCKS: dict[str, tuple[str, ...]] = {
    "py": (
        "def {verb}_{noun}({noun}: {Noun}, {other}: int = {n}) -> {Noun}:\n"
        '    """{Verb} one {noun} and keep its {other} in order."""\n'
        "    if {noun}.{other} > {n}:\n"
        '        raise {Noun}Error(f"{noun} with {{noun}.{other}} {other}s is too many")\n'
        "    return replace({noun}, {other}={other})\n",
        "@dataclass(frozen=True, slots=True)\n"
        "class {Noun}{Other}:\n"
        '    """What is known of a {noun}: its {other}, and when it was seen."""\n\n'
        "    {other}: int\n"
        "    seen_at: datetime\n"
        '    label: str = "{noun}-{n}"\n\n'
        "    def older_than(self, moment: datetime) -> bool:\n"
        "        return self.seen_at < moment\n",
        "def test_{noun}_{verb}s_its_{other}() -> None:\n"
        "    {noun} = make_{noun}({other}={n})\n"
        "    assert {verb}_{noun}({noun}).{other} == {n}\n",
        '{NOUN}_{OTHER}_LIMIT = {n}\n_{NOUN}_PATTERN = re.compile(r"^(?P<{noun}>[a-z]+)-(?P<{other}>\\d+)$")\n',
    ),
    "ts": (
        "export function {verb}{Noun}({noun}: {Noun}, {other} = {n}): {Noun} {\n"
        "  if ({noun}.{other} > {n}) {\n"
        "    throw new RangeError(`${{noun}.id} holds too many {other}s`);\n"
        "  }\n"
        "  return { ...{noun}, {other} };\n"
        "}\n",
        "export interface {Noun}{Other} {\n"
        "  readonly id: string;\n"
        "  readonly {other}: number;\n"
        "  /** When the {noun} was last seen, in UTC. */\n"
        "  readonly seenAt: Date;\n"
        "}\n",
        'describe("{verb}{Noun}", () => {\n'
        '  it("keeps {n} {other}s", () => {\n'
        "    const {noun} = make{Noun}({ {other}: {n} });\n"
        "    expect({verb}{Noun}({noun}).{other}).toBe({n});\n"
        "  });\n"
        "});\n",
        "const {verb}Queue = new Map<string, {Noun}{Other}>();\n"
        'export const {NOUN}_{OTHER}S = ["{noun}", "{other}", "{verb}-{n}"] as const;\n',
    ),
    "go": (
        "// {Verb}{Noun} returns the {noun} with its {other} put in order.\n"
        "func (s *{Noun}Store) {Verb}{Noun}(ctx context.Context, id string) (*{Noun}, error) {\n"
        "\t{noun}, err := s.load(ctx, id)\n"
        "\tif err != nil {\n"
        '\t\treturn nil, fmt.Errorf("{verb} {noun} %q: %w", id, err)\n'
        "\t}\n"
        "\t{noun}.{Other} = min({noun}.{Other}, {n})\n"
        "\treturn {noun}, nil\n"
        "}\n",
        "type {Noun}{Other} struct {\n"
        '\tID     string    `json:"id"`\n'
        '\t{Other} int       `json:"{other}"`\n'
        '\tSeenAt time.Time `json:"seen_at"`\n'
        "}\n",
        "func Test{Verb}{Noun}(t *testing.T) {\n"
        "\tstore := new{Noun}Store(t, {n})\n"
        '\tgot, err := store.{Verb}{Noun}(t.Context(), "{noun}-{n}")\n'
        "\tif err != nil || got.{Other} != {n} {\n"
        '\t\tt.Fatalf("{Verb}{Noun} = %v, %v", got, err)\n'
        "\t}\n"
        "}\n",
    ),
    "rs": (
        "/// {Verb}s one {noun}, splitting it where its {other} grows past {n}.\n"
        "pub fn {verb}_{noun}({noun}: &mut {Noun}, {other}: usize) -> Result<(), {Noun}Error> {\n"
        "    if {noun}.{other}.len() + {other} > {n} {\n"
        "        return Err({Noun}Error::TooMany{Other}s({other}));\n"
        "    }\n"
        "    {noun}.{other}.reserve({other});\n"
        "    Ok(())\n"
        "}\n",
        "#[derive(Debug, Clone, PartialEq)]\n"
        "pub struct {Noun}{Other} {\n"
        "    pub id: u64,\n"
        "    pub {other}: Vec<u8>,\n"
        "    dirty: bool,\n"
        "}\n\n"
        "impl {Noun}{Other} {\n"
        "    pub const MAX: usize = {n};\n"
        "    pub fn is_dirty(&self) -> bool {\n"
        "        self.dirty\n"
        "    }\n"
        "}\n",
        "#[test]\n"
        "fn {verb}s_{noun}_with_{n}_{other}s() {\n"
        "    let mut {noun} = {Noun}::with_{other}s({n});\n"
        "    assert!({verb}_{noun}(&mut {noun}, {n}).is_ok());\n"
        "}\n",
    ),
    "md": (
        "## {Verb} a {noun}\n\n"
        "A {noun} has a {other}. To {verb} it, name it and say how many {other}s it holds; {n} are usual.\n",
        "- `{verb} {noun}` keeps {n} {other}s\n- `{verb} {other}` lists what is left\n",
    ),
}

HEADS: dict[str, str] = {
    "py": '"""{Noun}s of {project}, and what is done with their {other}s."""\n\n'
    "from __future__ import annotations\n\nimport re\nfrom dataclasses import dataclass, replace\n"
    "from datetime import datetime\n",
    "ts": 'import { {verb}{Other} } from "../{other}";\nimport type { {Noun} } from "../types";\n',
    "go": 'package {folder}\n\nimport (\n\t"context"\n\t"fmt"\n\t"testing"\n\t"time"\n)\n',
    "rs": "//! {Noun}s and their {other}s.\n\nuse crate::error::{Noun}Error;\nuse crate::{other}::{Other};\n",
    "md": "# {project}: {noun} and {other}\n",
}
