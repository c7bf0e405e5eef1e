"""What can be wrong with the files that the analysis reads."""

from __future__ import annotations


class AnalysisError(ValueError):
    """A results file is missing or malformed; the message states which, where, and what was expected."""

    exit_code = 2
