"""Errors in the files that the analysis reads."""

from __future__ import annotations

from spillway.base.errors import SpillwayError


class AnalysisError(SpillwayError, ValueError):
    """A results file is missing or malformed; the message states the file, the place and the expected contents."""

    exit_code = 2
