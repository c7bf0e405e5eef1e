"""Where a study finds a log: the local copy below ``$SPILLWAY_DATA``, else its source."""

from __future__ import annotations

import os
from pathlib import Path

from spillway.workloads.catalogue import cache_folder

VARIABLE = "SPILLWAY_DATA"


def place_of(file: str, source: str) -> str:
    """The local copy of a log, else its source.

    Parameters
    ----------
    file
        Its place below ``$SPILLWAY_DATA`` ("": none).
    source
        A public log's name, or a generator.
    """
    folder = os.environ.get(VARIABLE, "")
    local = Path(folder) / file
    return str(local) if folder and file and local.is_file() else source


def is_at_hand(file: str, source: str) -> bool:
    """Whether a log can be read without network."""
    return place_of(file, source) != source or ":" in source or (cache_folder() / f"{source}.swf.gz").is_file()
