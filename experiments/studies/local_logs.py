"""Places of a study's logs: the local copy below ``$SPILLWAY_DATA``, else the source."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from spillway.experiments.studies.points import Value
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
        folder = os.environ.get(VARIABLE, "")
        local = Path(folder) / self.file
        return str(local) if folder and self.file and local.is_file() else self.source

    @property
    def at_hand(self) -> bool:
        """Whether it can be read without network."""
        return self.place != self.source or self.generated or (cache_folder() / f"{self.source}.swf.gz").is_file()


def at_hand(logs: Mapping[str, Log]) -> list[str]:
    """Names of the logs that can be read here without network; the generated ones always can."""
    return [name for name, log in logs.items() if log.at_hand]


def at_hand_on(axis: str, logs: Mapping[str, Log]) -> Callable[[str, Value], bool]:
    """Whether a value of an axis can be played here: on this axis a log's name, with or without words after it."""
    return lambda name, value: name != axis or str(value).partition(" ")[0] in at_hand(logs)
