"""`python -m bench.docs`: write the generated parts of docs/ again; `--check` only says which are stale."""

from __future__ import annotations

import sys

from bench.docs import FOLDER, stale


def main() -> int:
    found = stale()
    for path, text in found.items():
        print(path.relative_to(FOLDER.parent))
        if "--check" not in sys.argv[1:]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    return 1 if found and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
