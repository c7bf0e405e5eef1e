"""``python -m tests.analysis.report REPORT.html``: its response times; exit code 1 for errors in its console.

Without a file: a report of two schedules of 30,000 jobs on four nodes is made first.
"""

import sys
import tempfile
from pathlib import Path

from spillway.analysis.report.build import build_report
from tests.analysis.report.browser import browser
from tests.analysis.report.campaigns import write_campaign
from tests.analysis.report.responsive import measure


def main(arguments: list[str]) -> int:
    """Print the measured times."""
    with tempfile.TemporaryDirectory() as scratch, browser(Path(scratch) / "browser") as page:
        report = Path(arguments[0]) if arguments else build_report(write_campaign(Path(scratch) / "campaign", 30_000))
        found = measure(page, report)
        complaints = page.complaints
    print(f"jobs in two schedules  {found.jobs:,}")
    print(f"page                   {found.page_bytes / 1e6:.1f} MB")
    print(f"load                   {found.load_s:.2f} s")
    print(f"draw both, whole       {found.whole_ms:.0f} ms")
    print(f"draw both, zoomed 100x {found.zoomed_ms:.0f} ms")
    print(f"point at a job         {found.hover_ms:.1f} ms")
    print(f"errors in the console  {len(complaints)}", *complaints, sep="\n  " if complaints else "")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
