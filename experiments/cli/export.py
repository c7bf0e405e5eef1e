"""``spillway export RUN FILE``."""

from __future__ import annotations

import argparse
import os

from spillway.analysis import interchange
from spillway.analysis.interchange import DESCRIPTION, EXAMPLES, HELP, add_arguments
from spillway.experiments.run import folders, manifest

__all__ = ["DESCRIPTION", "EXAMPLES", "HELP", "add_arguments", "command"]


def command(options: argparse.Namespace) -> int:
    """Write the file, over none of results; a folder of ours is as it was written, a real Batsim's has no manifest."""
    if any(os.path.lexists(options.run / name) for name in (folders.RUN_FILE, folders.MANIFEST)):
        manifest.refuse_damage(options.run)
    manifest.refuse_member(options.file)
    return interchange.command(options)
