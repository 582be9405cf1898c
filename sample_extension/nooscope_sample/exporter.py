"""A format for `nooscope export`: the failed calls as CSV."""

from __future__ import annotations

import csv
import io

from core.export.exporters import Exporter
from core.export.film import ExportedSession


def _write(made: ExportedSession) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("at", "agent", "what"))
    writer.writerows((f"{one.at:.0f}", one.agent, one.what) for one in made.moments if one.outcome == "failure")
    return text.getvalue().encode()


FAILURES_CSV = Exporter("failures-csv", "the failed calls as CSV", _write)
