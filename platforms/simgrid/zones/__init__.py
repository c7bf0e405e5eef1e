"""SimGrid's network zones, one file per kind; each kind finds the way between two points inside it."""

from __future__ import annotations

from collections.abc import Mapping

from spillway.platforms.simgrid.zones.base import Zone
from spillway.platforms.simgrid.zones.dijkstra import DijkstraZone
from spillway.platforms.simgrid.zones.floyd import FloydZone
from spillway.platforms.simgrid.zones.full import FullZone
from spillway.platforms.simgrid.zones.star import StarZone
from spillway.platforms.simgrid.zones.vivaldi import VivaldiZone

ROUTINGS: Mapping[str, type[Zone]] = {
    "full": FullZone,
    "floyd": FloydZone,
    "dijkstra": DijkstraZone,
    "dijkstracache": DijkstraZone,
    "cluster": StarZone,
    "vivaldi": VivaldiZone,
    "none": Zone,
}
"""Zone kinds by the value of ``<zone routing=...>``, in lower case (SimGrid ignores case there)."""
