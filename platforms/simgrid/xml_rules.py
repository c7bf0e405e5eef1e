"""Elements and attributes of SimGrid's platform files that are read; others are refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spillway.platforms.errors import PlatformError

Attributes = Mapping[str, str]

ALIASES: Mapping[str, str] = {"AS": "zone", "ASroute": "zoneRoute"}
"""Older names that SimGrid still takes."""

CHILDREN: Mapping[str, tuple[str, ...]] = {
    "": ("platform",),
    "platform": ("config", "zone", "cluster"),
    "config": ("prop",),
    "zone": (
        "prop", "zone", "cluster", "host", "router", "link", "route", "zoneRoute", "cabinet", "host_link", "backbone",
    ),
    "host": ("prop",),
    "link": ("prop",),
    "cluster": ("prop",),
    "route": ("link_ctn",),
    "zoneRoute": ("link_ctn",),
}  # fmt: skip
"""Elements understood inside each element."""


@dataclass(frozen=True, slots=True)
class _Rule:
    required: frozenset[str]
    allowed: frozenset[str]
    choices: Mapping[str, tuple[str, ...]]


def _rule(required: str, optional: str = "", **choices: str) -> _Rule:
    needed = frozenset(required.split())
    return _Rule(
        needed,
        needed | frozenset(optional.split()) | frozenset(choices),
        {name: tuple(values.split()) for name, values in choices.items()},
    )


_SYMMETRICAL = "YES NO yes no"

_RULES: Mapping[str, _Rule] = {
    "platform": _rule("version"),
    "config": _rule("", "id"),
    "prop": _rule("id value"),
    "zone": _rule("id routing"),
    "host": _rule("id speed", "coordinates core pstate"),
    "router": _rule("id", "coordinates"),
    "link": _rule("id bandwidth", "latency", sharing_policy="SHARED FATPIPE SPLITDUPLEX FULLDUPLEX"),
    "cluster": _rule(
        "id prefix suffix radical speed bw lat",
        "core topo_parameters bb_bw bb_lat router_id limiter_link loopback_bw loopback_lat",
        sharing_policy="SHARED SPLITDUPLEX FULLDUPLEX FATPIPE",
        topology="FLAT TORUS FAT_TREE DRAGONFLY",
        bb_sharing_policy="SHARED FATPIPE",
    ),
    "cabinet": _rule("id prefix suffix radical speed bw lat"),
    "host_link": _rule("id up down"),
    "backbone": _rule("id bandwidth latency"),
    "route": _rule("src dst", symmetrical=_SYMMETRICAL),
    "zoneRoute": _rule("src dst gw_src gw_dst", symmetrical=_SYMMETRICAL),
    "link_ctn": _rule("id", direction="UP DOWN NONE"),
}


def check_attributes(tag: str, attributes: Attributes) -> None:
    """Raise :class:`PlatformError` for a missing, unknown or ill-valued attribute of a known element."""
    rule = _RULES[tag]
    names = attributes.keys()
    if not (rule.required <= names and names <= rule.allowed):
        for name in sorted(rule.required - names):
            raise PlatformError(f"<{tag}> misses its attribute {name!r}")
        for name in sorted(names - rule.allowed):
            raise PlatformError(
                f"<{tag}>: attribute {name!r} is not understood; understood are {', '.join(sorted(rule.allowed))}"
            )
    for name, values in rule.choices.items():
        value = attributes.get(name)
        if value is not None and value not in values:
            raise PlatformError(f"<{tag}>: attribute {name!r} must be one of {', '.join(values)}, got {value!r}")
