"""Near misses: known names similar to a wrong one, for error texts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

_ALIKE = 0.6
"""Least similarity of a near miss (:func:`difflib.get_close_matches`)."""


def nearest(name: object, known: Iterable[object], alike: float = _ALIKE) -> str:
    """The known name most similar to another one, regardless of case; "" without a similar name."""
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(str(candidate).casefold(), str(candidate))
    found = difflib.get_close_matches(str(name).casefold(), folded, 1, alike)
    return folded[found[0]] if found else ""


_WHERE = "--where {0}=NAME"
_SPOKEN: Mapping[str, tuple[str, ...]] = {
    "partition queue": ("partition", "partition.NAME.nodes", _WHERE.format("partition")),
    "user": (_WHERE.format("user"),),
    "account project group": ("account", _WHERE.format("account")),
    "qos": (_WHERE.format("qos"),),
    "log trace swf input file jobs": ("--workload",),
    "machine cluster system": ("--platform",),
    "scheduler algorithm scheduling": ("--policy", "policy"),
    "output outdir output-dir results folder directory": ("--out",),
    "bb buffer buffers burst-buffer burst-buffers burstbuffer bb-size bb-capacity capacity ssd nvme storage": (
        "storage.capacity",
        "--burst-buffer-total",
    ),
    "pfs lustre filesystem file-system bandwidth io": ("pfs.bandwidth",),
    "port address host endpoint socket server": ("--socket-endpoint", "--bind", "--connect"),
    "cores cpus processors ppn cores-per-node": ("--processors-per-node", "nodes"),
    "size hosts servers compute-nodes computes": ("--nodes", "nodes"),
    "timelimit time-limit runtime wallclock wall-time limit": ("walltime",),
    "arrivals arrival-rate utilisation utilization traffic demand": ("load",),
    "downtime outage outages drain window": ("maintenance", "--maintenance"),
    "license licence licenses licences": ("license.NAME",),
    "priority weights fairshare": ("priority.age",),
    "limits": ("limits",),
    "repetitions repeat replicas reps": ("--seeds", "--shakes"),
    "limit max-jobs n-jobs njobs head": ("--first",),
    "threads parallel processes jobs-at-once cpus": ("--workers",),
    "verbose": ("--notes",),
}
"""Words that people use, and the names for them here, the first that is known is meant."""


def _meant(name: str, known: Iterable[str]) -> str:
    """The known name for a word that people use; "" where it is none."""
    word = name.lstrip("-").casefold().replace("_", "-")
    names = [*known]
    for words, meant in _SPOKEN.items():
        for word_meant in meant if word in words.split() else ():
            first = word_meant.partition(" ")[0]
            if first in names and word_meant.startswith("-") == name.startswith("-"):
                return word_meant
    return ""


def near(name: object, known: Iterable[object]) -> str:
    """``; did you mean 'NAME'?`` with the known name for a word that people use, else the nearest; "" without one."""
    names = [*map(str, known)]
    found = _meant(str(name), names) or nearest(name, names)
    return f"; did you mean {found!r}?" if found else ""
