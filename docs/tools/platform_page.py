"""The page of the machine format, from the dataclasses that read it."""

from __future__ import annotations

from spillway.analysis.document.blocks import Block, Code, Heading, Paragraph, Table
from spillway.base import units
from spillway.platforms.catalogue import builtin_files, describe
from spillway.platforms.description.fields import ABSENT, default_of, tables, unit_of, values_of
from spillway.platforms.description.fields import Table as Keys

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


def page() -> list[Block]:
    """The page."""
    known = [(f"`{name}`", describe(name).summary) for name in builtin_files()]
    found: list[Block] = [
        Heading("Machines", 1),
        Paragraph(INTRODUCTION),
        Code(EXAMPLE.strip(), "toml"),
        Paragraph(RULES),
    ]
    found += [*_units(), Heading("Built-in machines"), Table(("name", "machine"), known)]
    for one in tables():
        rows = [
            (f"`{key.name}`", values_of(key), unit_of(key), _default(default_of(key)), _code(key.help))
            for key in one.keys
        ]
        found += [Heading(_title(one)), Paragraph(_code(one.summary))]
        found.append(Table(("key", "value", "a bare number is in", "default", "meaning"), rows))
    return found


def _units() -> list[Block]:
    scales = {"speed": units.SPEED, "bandwidth": units.BANDWIDTH, "time": units.TIME, "size": units.SIZE}
    rows = [
        (name, f"`{scale.example}`", ", ".join(f"`{unit}`" for unit in (*scale.factors, *scale.also)))
        for name, scale in scales.items()
    ]
    words = (
        "Texts have a unit, one of SimGrid's or a more common one, after a space or not; decimal prefixes count in "
        "thousands, binary ones (`Ki`) in 1024."
    )
    return [Heading("Units"), Paragraph(words), Table(("quantity", "example", "units"), rows)]


def _title(one: Keys) -> str:
    return f"`{one.title}`" if one.path else "At the top of the file"


def _default(text: str) -> str:
    return {"": "must be given", ABSENT: ABSENT, "its defaults": "its defaults"}.get(text, f"`{text}`")


def _code(text: str) -> str:
    return text.replace("``", "`")
