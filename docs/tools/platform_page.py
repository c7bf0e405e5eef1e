"""The page of the machine format, from the dataclasses that read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spillway.base import units
from spillway.platforms.catalogue import builtin_files, describe
from spillway.platforms.fields import ABSENT, Table, tables

EXAMPLE = """
name = "ours"
topology = "tree"

[node]
speed = "1Gf"

[[cluster]]
name = "main"
uplink = { name = "core", bandwidth = "25GBps" }
levels = [
  { name = "switch", count = 20, bandwidth = "5GBps", duplex = true },
  { name = "node", count = 12, bandwidth = "1250MBps", latency = "50us", duplex = true },
]

[storage]
per = "switch"          # one storage node beside the nodes of each switch
capacity = "200GB"

[pfs]
bandwidth = "12GBps"
"""
"""240 compute nodes, 20 storage nodes, a file system."""

INTRODUCTION = """
A machine is a TOML file: `--platform machine.toml` everywhere, `source = "machine.toml"` in a campaign. Compute
nodes, storage nodes with burst buffers, the links between them, a parallel file system. `spillway platform init`
writes such a file with every key and its meaning in it, for the size that a log's header states; `spillway
platform show FILE` prints the machine of a file.
"""

RULES = """
Unknown keys, wrong types and values out of range are errors that name the key. `base = "NAME"` at the top starts
from a built-in machine, and each key that follows replaces one of it: `base = "thesis"` and `[storage]` with
`capacity = "80GB"` are a whole file.
"""


def page(table: Callable[[Sequence[str], Sequence[Sequence[str]]], str]) -> str:
    """The page's text; ``table`` writes a table of a header and rows."""
    parts = ["# Machines", INTRODUCTION.strip(), f"```toml\n{EXAMPLE.strip()}\n```", RULES.strip(), _units(table)]
    known = [(f"`{name}`", describe(name).summary) for name in builtin_files()]
    parts.append(f"## Built-in machines\n\n{table(('name', 'machine'), known)}")
    for one in tables():
        rows = [(f"`{key.name}`", key.value, key.unit, _default(key.default), _code(key.meaning)) for key in one.keys]
        header = ("key", "value", "a bare number is in", "default", "meaning")
        parts.append(f"## {_title(one)}\n\n{_code(one.summary)}\n\n{table(header, rows)}")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _units(table: Callable[[Sequence[str], Sequence[Sequence[str]]], str]) -> str:
    scales = {"speed": units.SPEED, "bandwidth": units.BANDWIDTH, "time": units.TIME, "size": units.SIZE}
    rows = [
        (name, f"`{scale.example}`", ", ".join(f"`{unit}`" for unit in (*scale.factors, *scale.also)))
        for name, scale in scales.items()
    ]
    words = (
        "Texts have a unit, one of SimGrid's or a more common one, after a space or not; decimal prefixes count in "
        "thousands, binary ones (`Ki`) in 1024."
    )
    return f"## Units\n\n{words}\n\n{table(('quantity', 'example', 'units'), rows)}"


def _title(one: Table) -> str:
    return f"`{one.title}`" if one.path else "At the top of the file"


def _default(text: str) -> str:
    return {"": "must be given", ABSENT: ABSENT, "its defaults": "its defaults"}.get(text, f"`{text}`")


def _code(text: str) -> str:
    return text.replace("``", "`")
