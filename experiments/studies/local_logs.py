"""Places of a study's logs: the local copy below ``$SPILLWAY_DATA``, else the source."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from spillway.workloads.catalogue import cache_folder

VARIABLE = "SPILLWAY_DATA"


@dataclass(frozen=True)
class Log:
    """A log from which a study draws its workloads.

    Attributes
    ----------
    nodes, processors
        Nodes of its machine, and processors of a node.
    source
        A public log's name, or a generator.
    file
        Its path below ``$SPILLWAY_DATA`` ("": no file).
    """

    nodes: int
    source: str
    file: str = ""
    processors: int = 1

    @property
    def generated(self) -> bool:
        """Whether a generator draws it."""
        return ":" in self.source

    @property
    def place(self) -> str:
        """The local copy, else the source."""
        return place_of(self.file, self.source)

    @property
    def at_hand(self) -> bool:
        """Whether it can be read without network."""
        return self.place != self.source or self.generated or (cache_folder() / f"{self.source}.swf.gz").is_file()


def at_hand(logs: Mapping[str, Log]) -> list[str]:
    """Names of the logs that can be read here without network; the generated ones always can."""
    return [name for name, log in logs.items() if log.at_hand]


def place_of(file: str, source: str) -> str:
    """The local copy of a log, else its source.

    Parameters
    ----------
    file
        Its path below ``$SPILLWAY_DATA`` ("": no file).
    source
        A public log's name, or a generator.
    """
    folder = os.environ.get(VARIABLE, "")
    local = Path(folder) / file
    return str(local) if folder and file and local.is_file() else source
