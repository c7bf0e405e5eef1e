"""The error for a machine that cannot run a Slurm."""

from __future__ import annotations

from spillway.base.errors import SpillwayError


class MissingRequirement(SpillwayError):
    """A program, a package or a right is missing; the message names it. The comparison is skipped."""
