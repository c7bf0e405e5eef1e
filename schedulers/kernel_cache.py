"""What Numba's cache leaves out: that a compiled function holds code of functions from other files."""

from __future__ import annotations

import os
from pathlib import Path


def drop_older_than(cache_folder: str | os.PathLike[str], *sources: str) -> list[Path]:
    """Delete the cache's index files that are older than one of these source files; return them.

    Numba compiles a kernel anew when its own file changes. A kernel that calls one from another file, however, holds
    the callee's code and would go on with the old one. A module whose kernels are called from elsewhere in its folder
    therefore drops what was compiled before its own last change.
    """
    changed_s = max(os.stat(source).st_mtime for source in sources)
    dropped = []
    for index in Path(cache_folder).glob("*.nbi"):
        try:
            if index.stat().st_mtime < changed_s:
                index.unlink()
                dropped.append(index)
        except OSError:  # another process was faster, or the folder is not ours: Numba does not write there either
            continue
    return dropped
