"""Where a campaign's files are, and how they are written so that a half-written one is never taken for a whole."""

from __future__ import annotations

import json
import math
import os
import shutil
from pathlib import Path
from typing import Any

from experiments.errors import SpecError

RUN_FILE = "run.json"
INPUTS = "inputs"
FINISHED, FAILED = "finished", "failed"


def make_folder(path: Path) -> Path:
    """Make a campaign's folder; raise :class:`SpecError` where that cannot be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise SpecError(
            f"cannot write results to {str(path)!r}: {error.strerror or error}; name another folder with --out"
        ) from None
    return path


def fresh(folder: Path) -> Path:
    """Empty a run's folder (left by a run that failed or was stopped) and make it anew."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder


def is_finished(folder: Path) -> bool:
    """Whether the folder holds a whole run: its ``run.json`` is written last."""
    return read_json(folder / RUN_FILE).get("status") == FINISHED


def write_json(path: Path, data: Any) -> None:
    """Write a JSON file under a temporary name, then rename it; what is not a finite number becomes ``null``."""
    write_text(path, json.dumps(_plain(data), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file under a temporary name, then rename it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; ``{}`` where there is none that is whole."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
