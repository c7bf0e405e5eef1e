"""The line of a user's own file at which an exception arose, for one-line messages about it."""

from __future__ import annotations

import linecache
import sysconfig
import traceback
from pathlib import Path
from types import ModuleType

from spillway.base.errors import shortened

_OURS = str(Path(__file__).parent.parent)
_PATHS = sysconfig.get_paths()
_INSTALLED = (_PATHS["purelib"], _PATHS["platlib"])
_LIBRARY = (_PATHS["stdlib"], _PATHS["platstdlib"])


def is_users(module: ModuleType) -> bool:
    """Whether a module is a file of the user's: neither ours nor Python's, nor of an installed package."""
    file = getattr(module, "__file__", None)
    return (
        isinstance(file, str)
        and file.endswith(".py")
        and module.__name__.partition(".")[0] != "spillway"
        and not file.startswith((_OURS, *_INSTALLED, *_LIBRARY))
    )


def users_line(error: BaseException) -> str:
    """``" (mine.py, line 12: return 1 / 0)"``: the last line of a traceback that is neither ours nor Python's.

    Lines of installed packages count where there is no other; "" without any.
    """
    theirs = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<frozen", _OURS))
        and (frame.filename.startswith(_INSTALLED) or not frame.filename.startswith(_LIBRARY))
    ]
    own = [frame for frame in theirs if not frame.filename.startswith(_INSTALLED)] or theirs
    if not own:
        return ""
    text = shortened(linecache.getline(own[-1].filename, own[-1].lineno or 0).strip())
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno}{f': {text}' if text else ''})"
