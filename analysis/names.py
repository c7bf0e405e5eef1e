"""Names of results in names of files."""

from __future__ import annotations

import re


def slug(text: str) -> str:
    """Text that is safe in a file name: never a path, never empty."""
    return re.sub(r"[^A-Za-z0-9.+=-]+", "-", text).strip("-.") or "x"
