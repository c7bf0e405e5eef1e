"""Writes the paths of bytes to the file system (``io_path``) into the text of a SimGrid platform file.

The rest of the file stays byte for byte, and properties change nothing that is simulated. A host that the file spells
out gets a property of its own; for hosts of a ``<cluster>`` or ``<cabinet>``, the property is in the enclosing element
that may have properties: ``io_path`` if the path is the same for all, else ``io_levels``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.parsers import expat

from spillway.platforms.errors import PlatformError
from spillway.platforms.io_paths import IO_LEVELS, IO_PATH, io_levels, io_levels_text, io_path, number_of, path_of
from spillway.platforms.model import Platform
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.platforms.simgrid.xml_rules import ALIASES

_TAG_END = re.compile(rb"""(?:[^>"']|"[^"]*"|'[^']*')*?(/?)>""")
"""The rest of a start tag: quoted values may contain ``>``."""


class _Spot(NamedTuple):
    """A start tag: its offset in the file, bytes, and its name."""

    offset: int
    tag: str


def states_paths(platform: Platform) -> bool:
    """Whether a host of the platform states its path to the file system already."""
    return any(path_of(host) for host in platform.hosts)


def annotate(xml: str, source: str = "", file_system: str = "", *, own_links: bool = False) -> str:
    """Write ``io_path`` into a platform file.

    Parameters
    ----------
    xml
        Text of the file.
    source
        Names it in messages.
    file_system, own_links
        See :func:`spillway.platforms.io_paths.io_levels`.

    Raises
    ------
    PlatformError
        The file cannot be read or states paths already, the paths cannot be found, or the file has no place for them.
    """
    data = xml.lstrip().encode()  # XML allows no blank first line; SimGrid ignores it
    platform = parse_platform(xml, source)
    if states_paths(platform):
        raise PlatformError(
            f"some hosts state {IO_PATH!r} already; remove these properties to have them written", source
        )
    levels = io_levels(platform, file_system, own_links=own_links)
    paths = {platform.hosts[index].name: io_path(found) for index, found in levels.items()}
    spots = _find(data)
    members: dict[_Spot, dict[str, str]] = {}
    for name, path in paths.items():
        members.setdefault(spots[name], {})[name] = path
    return _insert(data, {spot.offset: _property(spot, stated, source) for spot, stated in members.items()}).decode()


def _property(spot: _Spot, paths: Mapping[str, str], source: str) -> tuple[str, str]:
    """Name and value of the property that states the paths of all hosts that one element makes."""
    first = next(iter(paths.values()))
    if all(path == first for path in paths.values()):
        return IO_PATH, first
    numbered: dict[int, str] = {}
    for name, path in paths.items():
        if numbered.setdefault(number_of(name), path) != path:
            raise PlatformError(
                f"the hosts of one <{spot.tag}> reach the file system by different levels, and their names do not "
                f"differ in the last number ({name!r}); write these hosts out as <host> elements",
                source,
            )
    return IO_LEVELS, io_levels_text({number: path.split("/") for number, path in numbered.items()})


def _find(data: bytes) -> Mapping[str, _Spot]:
    """The start tag for the properties of each host."""
    finder = _Finder()
    finder.parser.Parse(data, True)
    return finder.spots


@dataclass
class _Finder:
    """One pass over a file that has been checked to be well-formed."""

    parser: expat.XMLParserType = field(default_factory=lambda: expat.ParserCreate("utf-8"))
    spots: dict[str, _Spot] = field(default_factory=dict)
    _around: list[_Spot] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = ALIASES.get(tag, tag)
        spot = _Spot(self.parser.CurrentByteIndex, tag)
        if tag == "host":
            self.spots[attributes["id"]] = spot
        elif tag in ("cluster", "cabinet"):
            place = spot if tag == "cluster" else self._around[-1]
            for number in _numbers(attributes["radical"]):
                self.spots[f"{attributes['prefix']}{number}{attributes['suffix']}"] = place
        if tag in ("zone", "cluster"):
            self._around.append(spot)

    def _end(self, tag: str) -> None:
        if ALIASES.get(tag, tag) in ("zone", "cluster"):
            self._around.pop()


def _numbers(radical: str) -> list[int]:
    numbers: list[int] = []
    for part in radical.split(","):
        first, _, last = part.partition("-")
        numbers.extend(range(int(first), int(last or first) + 1))
    return numbers


def _insert(data: bytes, properties: Mapping[int, tuple[str, str]]) -> bytes:
    """Put a property right behind each of these start tags."""
    from xml.sax.saxutils import quoteattr  # loads urllib, with http and ssl

    pieces: list[bytes] = []
    done = 0
    for offset in sorted(properties):
        end = _TAG_END.match(data, offset)
        assert end is not None, "the file has been read before"
        name, value = properties[offset]
        prop = f'<prop id="{name}" value={quoteattr(value)}/>'.encode()
        if end[1]:
            tag = re.match(rb"<([\w:.-]+)", data[offset : offset + 80])
            assert tag is not None, "a start tag begins with its name"
            pieces += [data[done : end.start(1)], b">", prop, b"</" + tag[1] + b">"]
        else:
            pieces += [data[done : end.end()], prop]
        done = end.end()
    return b"".join([*pieces, data[done:]])
