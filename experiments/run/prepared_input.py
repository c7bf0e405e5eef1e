"""A prepared input, checked before each use: an edited file is never read."""

from __future__ import annotations

from pathlib import Path

from spillway.base.limits import InputError
from spillway.experiments.run.errors import RunFailed
from spillway.experiments.run.manifest import checksum
from spillway.experiments.run.spec import PreparedInput


def checked(root: Path, prepared: PreparedInput) -> Path:
    """Return the path of an input after a check that its contents are as prepared.

    Parameters
    ----------
    root
        The campaign's folder.
    prepared
        The input.

    Raises
    ------
    RunFailed
        The file was edited, cut or removed after it had been prepared.
    """
    path = root / prepared.path
    if fault := damage(root, prepared):
        raise RunFailed(f"{path}: {fault}; repeat the command, which makes the file anew")
    return path


def damage(root: Path, prepared: PreparedInput) -> str:
    """The fault of an input; "" if it is unchanged."""
    try:
        found = checksum(root / prepared.path)
    except InputError as error:
        return f"it {error}"
    return "" if found == prepared.sha256 else "its contents were changed"
