"""Workloads: logs in the Standard Workload Format, Batsim workload files, and the models that make one of the other.

``load_workload`` is the way in for programs, ``python -m workloads`` the command line.
"""

from __future__ import annotations

from workloads.batsim_json import read_batsim, write_batsim
from workloads.burst_buffer import BurstBufferModel
from workloads.convert import ConvertOptions, convert
from workloads.errors import WorkloadError
from workloads.load import load_log, load_workload
from workloads.machine_facts import THESIS_MACHINE, MachineFacts
from workloads.swf import SwfLog, SwfRecord, read_swf, write_swf
from workloads.workload import Workload, WorkloadJob

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
