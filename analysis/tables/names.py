"""File names from the names of results."""

from __future__ import annotations

import hashlib
import re

LONGEST = 100
"""Characters of a name in a file name: file systems take 255 in all."""


def slug(text: str) -> str:
    """Text that is safe in a file name: never a path, never empty; a long one ends with its checksum."""
    safe = re.sub(r"[^A-Za-z0-9.+=-]+", "-", text).strip("-.") or "x"
    return safe if len(safe) <= LONGEST else f"{safe[: LONGEST - 9]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
