"""`python -m bench.scale PROBE SIZE...`: one probe over rising sizes, told as JSON."""

from __future__ import annotations

import gc
import json
import sys

from bench.measure import quantile
from bench.scale.probes import PROBES
from tui.garbage import USUAL


def main() -> int:
    gc.set_threshold(*USUAL)
    sizes = [int(word) for word in sys.argv[2:]]
    found = PROBES[sys.argv[1]](sizes)
    values: dict[str, list[float]] = {}
    for name, size in sorted(found.samples, key=lambda key: key[1]):
        median = quantile(found.samples[name, size], 0.5)
        values.setdefault(name, []).append(float(f"{median:.4g}"))
    print(json.dumps({"values": values, "stopped": found.stopped}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
