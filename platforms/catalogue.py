"""Finds a platform by name: built-in descriptions, description files, SimGrid XML."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from spillway.base.files import read_file, text_of
from spillway.base.limits import DESCRIPTION_BYTES, InputError
from spillway.base.near import near
from spillway.platforms.description.generate import build, generate
from spillway.platforms.description.machine import Description, read_description
from spillway.platforms.errors import PlatformError
from spillway.platforms.model import Platform
from spillway.platforms.simgrid.xml_reader import load_platform


@lru_cache(maxsize=1)
def builtin_files() -> Mapping[str, Path]:
    """Built-in descriptions: file by name."""
    folder = Path(str(resources.files("spillway.platforms"))) / "builtin"
    return {path.stem: path for path in sorted(folder.glob("*.toml"), key=lambda path: path.stem)}


def describe(name: str | Path, overrides: Mapping[str, Any] | None = None) -> Description:
    """Read a description: a built-in name, or a ``.toml`` file.

    Parameters
    ----------
    overrides
        Values by dotted key (``pfs.bandwidth``) that replace those of the file.

    Raises
    ------
    PlatformError
        For an unknown name (the known ones are listed), an unreadable file, and every error in it.
    """
    path = builtin_files().get(str(name), Path(name))
    if str(name) not in builtin_files() and path.suffix != ".toml":
        known = ", ".join(builtin_files())
        raise PlatformError(
            f"no platform {str(name)!r}; give a file ending in .toml or .xml, or one of {known}"
            f"{near(name, builtin_files())}"
        )
    try:
        text = text_of(read_file(path, DESCRIPTION_BYTES))
    except InputError as error:
        raise PlatformError(f"the platform description {error}", str(path)) from None
    return read_description(text, str(path), builtin_files(), overrides)


def resolve_platform(name: str | Path, overrides: Mapping[str, Any] | None = None) -> str:
    """SimGrid XML text of a platform: a built-in name, a ``.toml`` description, or an ``.xml`` file as it is."""
    path = Path(name)
    if path.suffix != ".xml":
        return generate(describe(name, overrides))
    if overrides:
        raise PlatformError("overrides go with descriptions, not with XML files", str(path))
    try:
        return text_of(read_file(path))
    except InputError as error:
        raise PlatformError(f"the platform file {error}", str(path)) from None


def platform_from(name: str | Path, overrides: Mapping[str, Any] | None = None) -> Platform:
    """Load a platform: a built-in name, a ``.toml`` description, or an ``.xml`` (or ``.xml.xz``) file."""
    if Path(name).suffix in (".xml", ".xz"):
        if overrides:
            raise PlatformError("overrides go with descriptions, not with XML files", str(name))
        return load_platform(name)
    return build(describe(name, overrides))


def checksum(xml: str) -> str:
    """SHA-256 of a platform's XML text, hexadecimal; it identifies the machine in results."""
    return hashlib.sha256(xml.encode()).hexdigest()
