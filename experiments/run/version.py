"""Version of the program, and its commit if it is known."""

from __future__ import annotations

import functools
import importlib.metadata
import shutil
import subprocess

from spillway.experiments.run.codehash import REPOSITORY


def version() -> str:
    """``0.1.0``, in a repository ``0.1.0 (commit 1a2b3c4d5e)``; ``+changes`` if files differ from the commit."""
    try:
        number = importlib.metadata.version("spillway")
    except importlib.metadata.PackageNotFoundError:
        number = "not installed"
    head, plus, changes = commit().partition("+")
    return f"{number} (commit {head[:10]}{plus}{changes})" if head else number


@functools.cache
def commit() -> str:
    """Git commit of the code, with ``+changes`` if files differ from it; "" without a repository."""
    if shutil.which("git") is None or not (REPOSITORY / ".git").exists():
        return ""
    head = _git("rev-parse", "HEAD")
    return f"{head}+changes" if head and _git("status", "--porcelain", "--untracked-files=no") else head


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
