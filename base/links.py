"""Links, pipes and devices in folders of results: no command writes these, and following a link leaves the folder."""

from __future__ import annotations

import os
from pathlib import Path

from spillway.base.limits import InputError, shown

_MARKS = ("run.json", "manifest.json")
"""Files that make a subfolder one of ours, besides its name."""

_OWN = frozenset({"inputs", "plots", "runs"})
"""Subfolders of a folder of results that are not folders of runs."""


def refuse_links(folder: Path) -> None:
    """Refuse a folder of results, which may be a stranger's, that holds anything but files and folders.

    A link would let a command read or overwrite a file elsewhere; a pipe would let it wait for ever. The folder, and
    its subfolders that hold results, are looked at; hidden folders are not read. The folder itself may be a link.

    Raises
    ------
    InputError
        An entry is a link, a pipe, a socket or a device; names it.
    """
    pending = [folder]
    while pending:
        for entry in _entries(pending.pop()):
            if entry.is_dir(follow_symlinks=False):
                if entry.name in _OWN or any(os.path.lexists(os.path.join(entry.path, mark)) for mark in _MARKS):
                    pending.append(Path(entry.path))
            elif not entry.is_file(follow_symlinks=False):
                kind = "a link" if entry.is_symlink() else "a pipe, a socket or a device"
                raise InputError(
                    f"{shown(entry.path, 200)} is {kind}: expected only files and folders in a folder of results; "
                    "remove it, or name another folder"
                )


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Entries of a folder; none where there is no such folder, or no longer."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
