"""Write all sample sessions again: python -m sample_sessions."""

from __future__ import annotations

import sys
from pathlib import Path

from sample_sessions.archive import build, save


def main() -> int:
    """Rebuild, and say what changed."""
    folder = Path(__file__).resolve().parent
    files = build()
    changed = save(folder, files)
    size = sum((folder / name).stat().st_size for name in files)
    sys.stdout.write("".join(f"{name}\n" for name in changed))
    sys.stdout.write(f"{len(changed)} of {len(files)} files changed, {size / 1000:.0f} kB in all\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
