"""Writes SimGrid XML, version 4.1, element by element."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from spillway.base import units

_PLAIN = re.compile(r"[\w .,:;/=+-]*")

Step = tuple[str, str]
"""A link in a route: name, and direction (``UP``, ``DOWN`` or ``""``)."""


class XmlWriter:
    """Collects the lines of a platform file.

    Numbers are written with the shortest unit text that reads back as the same number.
    """

    def __init__(self, *comments: str) -> None:
        self._lines = [
            "<?xml version='1.0'?>",
            '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
            *(f"<!-- {comment.replace('--', '- -')} -->" for comment in comments),
        ]
        self._depth = 0
        self._steps: dict[Step, str] = {}

    def text(self) -> str:
        """The file."""
        return "\n".join(self._lines) + "\n"

    @contextmanager
    def inside(self, tag: str, **attributes: str) -> Iterator[None]:
        """An element with others in it."""
        self._line(_start(tag, attributes))
        self._depth += 1
        yield
        self._depth -= 1
        self._line(f"</{tag}>")

    def empty(self, tag: str, **attributes: str) -> None:
        """An element with nothing in it."""
        self._line(_start(tag, attributes, "/"))

    def properties(self, properties: Mapping[str, str]) -> None:
        """``<prop>`` elements."""
        for key, value in properties.items():
            self.empty("prop", id=key, value=value)

    def host(self, name: str, speed: float, cores: int, properties: Mapping[str, str]) -> None:
        """A host."""
        attributes = {"id": name, "speed": units.SPEED.write(speed), **({"core": str(cores)} if cores > 1 else {})}
        props = "".join(_start("prop", {"id": key, "value": value}, "/") for key, value in properties.items())
        self._line(_start("host", attributes, "" if props else "/") + (props + "</host>" if props else ""))

    def link(self, name: str, bandwidth: float, latency: float, policy: str = "SHARED") -> None:
        """A link; bytes/s, seconds."""
        self.empty(
            "link",
            id=name,
            bandwidth=units.BANDWIDTH.write(bandwidth),
            latency=units.TIME.write(latency),
            sharing_policy=policy,
        )

    def route(self, src: str, dst: str, steps: Sequence[Step], symmetrical: bool, gateways: Sequence[str] = ()) -> None:
        """A route, or with two gateways one between zones."""
        tag, attributes = "route", {"src": src, "dst": dst}
        if gateways:
            tag, attributes = "zoneRoute", {**attributes, "gw_src": gateways[0], "gw_dst": gateways[1]}
        if not symmetrical:
            attributes["symmetrical"] = "NO"
        inner = "".join([self._step(step) for step in steps])
        self._line(f"{_start(tag, attributes)}{inner}</{tag}>")

    def _step(self, step: Step) -> str:
        """The element of a link in a route, kept because each link is in many routes."""
        text = self._steps.get(step)
        if text is None:
            link, way = step
            text = _start("link_ctn", {"id": link, **({"direction": way} if way else {})}, "/")
            self._steps[step] = text
        return text

    def _line(self, line: str) -> None:
        self._lines.append(" " * self._depth + line)


def _start(tag: str, attributes: Mapping[str, str], end: str = "") -> str:
    return f"<{tag}" + "".join([f" {key}={_quoted(value)}" for key, value in attributes.items()]) + f"{end}>"


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return f'"{value}"'
    from xml.sax.saxutils import quoteattr  # loads urllib, with http and ssl: most names are plain

    return quoteattr(value)
