"""From a description to a platform, or to a SimGrid platform file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from spillway.platforms import cache
from spillway.platforms.description.dragonfly import build_dragonfly, write_dragonfly
from spillway.platforms.description.machine import Description
from spillway.platforms.description.tree import write_tree
from spillway.platforms.model import Platform
from spillway.platforms.simgrid.xml_reader import parse_platform

_WRITERS: Mapping[str, Callable[[Description], str]] = {"dragonfly": write_dragonfly, "tree": write_tree}

_BUILDERS: Mapping[str, Callable[[Description], Platform]] = {"dragonfly": build_dragonfly}
"""Builders that bypass a long XML text; the result is the same."""


def generate(description: Description) -> str:
    """The platform as SimGrid XML."""
    return cache.text(description, lambda: _WRITERS[description.topology](description))


def build(description: Description) -> Platform:
    """The platform, the same as when read from :func:`generate`'s text."""
    builder = _BUILDERS.get(description.topology)
    return builder(description) if builder else parse_platform(generate(description), description.name)


def generate_and_build(description: Description) -> tuple[str, Platform]:
    """The XML text and the platform; the text is parsed only for topologies without a builder."""
    xml = generate(description)
    builder = _BUILDERS.get(description.topology)
    if builder is None:
        return xml, parse_platform(xml, description.name)
    made = builder(description)
    cache.keep(xml, made)
    return xml, made
