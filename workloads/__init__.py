"""Workloads: logs in the Standard Workload Format, Batsim workload files, and the models that make one of the other.

Programs use ``load_workload``; the command line is ``spillway workload``.
"""

from __future__ import annotations

from spillway.workloads.batsim.json_file import read_batsim, write_batsim
from spillway.workloads.batsim.workload import Workload, WorkloadJob
from spillway.workloads.conversion.convert import ConvertOptions, convert
from spillway.workloads.conversion.machine_facts import THESIS_MACHINE, MachineFacts
from spillway.workloads.errors import WorkloadError
from spillway.workloads.load import load_log, load_workload
from spillway.workloads.logs.tables import read_swf
from spillway.workloads.models.burst_buffer import BurstBufferModel
from spillway.workloads.swf import SwfLog, SwfRecord, write_swf

__all__ = [
    "THESIS_MACHINE",
    "BurstBufferModel",
    "ConvertOptions",
    "MachineFacts",
    "SwfLog",
    "SwfRecord",
    "Workload",
    "WorkloadError",
    "WorkloadJob",
    "convert",
    "load_log",
    "load_workload",
    "read_batsim",
    "read_swf",
    "write_batsim",
    "write_swf",
]
