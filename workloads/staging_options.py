"""Options for staging and for the kind of buffers, the same on every command line."""

from __future__ import annotations

import argparse

from spillway.base.arguments import natural
from spillway.workloads.errors import WorkloadError
from spillway.workloads.staging import StagingModel


def add_buffers(group: argparse._ActionsContainer) -> None:
    """Add both options."""
    group.add_argument(
        "--staging",
        type=_staging,
        default="",
        metavar="KEY=VALUE,...",
        help="staging of jobs: share_in, share_out (share of the buffer, 1), minutes (least time of a staging, 0 to "
        "60, 0), spread (each is uniform between 1 - spread and 1 + spread times that, 0), volumes=measured (bytes "
        "that the log recorded, else the shares); such as minutes=30,spread=0.5 (none)",
    )
    group.add_argument(
        "--stripes",
        type=natural,
        default=0,
        metavar="K",
        help="a buffer of the whole job, striped over K storage nodes, in place of one for each node (0); 1: one "
        "buffer per job; more where a stripe would not fit on a storage node",
    )


def _staging(text: str) -> str:
    """Refuse a wrong text when the command line is read."""
    try:
        StagingModel.parse(text)
    except WorkloadError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
