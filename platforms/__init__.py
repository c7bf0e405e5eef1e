"""Machine descriptions: SimGrid XML in, and from small TOML descriptions SimGrid XML out.

``load_platform`` reads any SimGrid 4.1 platform made of zones, clusters, explicit hosts, links and routes;
``Platform`` answers with the same routes as SimGrid 3.32.
"""

from __future__ import annotations

from spillway.platforms.catalogue import builtin_files, checksum, describe, platform_from, resolve_platform
from spillway.platforms.description.machine import Description
from spillway.platforms.errors import PlatformError
from spillway.platforms.model import Host, LinkInfo, Platform, Route, Sharing
from spillway.platforms.simgrid.xml_reader import load_platform, parse_platform

__all__ = [
    "Description",
    "Host",
    "LinkInfo",
    "Platform",
    "PlatformError",
    "Route",
    "Sharing",
    "builtin_files",
    "checksum",
    "describe",
    "load_platform",
    "parse_platform",
    "platform_from",
    "resolve_platform",
]
