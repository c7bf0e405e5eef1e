"""The report on paper: printed by a Chromium without a window, in the page's own print style."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from spillway.analysis.errors import AnalysisError
from spillway.base import durable

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Browsers that can print without a window, in the order in which they are looked for."""

_DRAWING_MS = 30_000
"""Time of the page's own clock until which its schedules must be drawn; it goes faster than real time."""

PATIENCE_S = 300.0


def print_pdf(page: Path, out: Path) -> Path:
    """Print a report.

    Parameters
    ----------
    page
        The report's file (:func:`spillway.analysis.report.build.build_report`).
    out
        File to write.

    Returns
    -------
    Path
        The PDF.

    Raises
    ------
    AnalysisError
        There is no browser, or it printed nothing.
    """
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise AnalysisError(
            f"a PDF is printed by Chromium, but PATH has no {', '.join(PROGRAMS)}: install one, or open {page} "
            "in a browser and print it (it has a style for paper)"
        )
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "report.pdf"
        command = [program, "--headless", "--disable-gpu", "--no-first-run", f"--user-data-dir={scratch}/profile"]
        command += ["--no-sandbox"] if os.geteuid() == 0 else []  # its sandbox refuses to run as root
        command += ["--no-pdf-header-footer", f"--virtual-time-budget={_DRAWING_MS}", f"--print-to-pdf={made}"]
        try:
            command.append(page.resolve().as_uri())
            done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise AnalysisError(f"{program} printed nothing: {error}") from None
        if not made.exists():
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
            raise AnalysisError(f"{program} printed nothing (exit code {done.returncode}): {last[0]}")
        durable.write_bytes(out, made.read_bytes())
    return out
