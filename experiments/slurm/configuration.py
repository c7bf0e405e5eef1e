"""Settings of a run of Slurm, and the texts of its files."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from spillway.experiments.slurm.site import Site, slurm_conf_lines

POOL = "bb"
"""Name of the pool of buffers."""
_FIRST_PORT = 26817
"""Port of slurmctld; the nodes' follow it. The network is a namespace of its own, so nothing else uses them."""
HOST = "ctl"
"""Name of the machine inside."""
FOLDER = Path("/spillway")
"""Folder of the run inside."""


Select = Literal["linear", "cons_tres"]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of a Slurm.

    Attributes
    ----------
    nodes
        Virtual nodes: one slurmd each.
    pool_units
        Units in the pool of buffers; its granularity is 1.
    release
        Release of Slurm: ``"22.05"`` or ``"24.11"``.
    bf_interval_s, bf_resolution_s, bf_window_min, bf_max_job_test, sched_interval_s, batch_sched_delay_s
        Slurm's ``SchedulerParameters`` of these names: s, s, minutes, jobs, s, s.
    site
        Partitions, shares, weights ...; ``None``: one partition, priority in order of submission, no accounts.
    select
        Selection of nodes: ``"linear"`` gives whole nodes, ``"cons_tres"`` (Slurm's default from 23.11 on) processors,
        and whole nodes to jobs that ask for these, as all do where nodes have several.
    cpus
        Processors of a node.
    bf_licenses
        Whether backfill passes plan licenses: releases after 22.05.
    licenses
        Number of each, by name.
    """

    nodes: int
    pool_units: int
    release: str = "22.05"
    bf_interval_s: int = 1
    bf_resolution_s: int = 60
    bf_window_min: int = 1440
    bf_max_job_test: int = 500
    sched_interval_s: int = 1
    batch_sched_delay_s: int = 0
    site: Site | None = None
    select: Select = "linear"
    cpus: int = 1
    bf_licenses: bool = False
    licenses: dict[str, int] = {}


BURST_BUFFER_CONF = """StageInTimeout=600
StageOutTimeout=600
GetSysState=/bin/true
"""

_PLAIN = """PriorityType=priority/basic
PartitionName=p Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE State=UP
"""

CGROUP_CONF = {"22.05": "", "24.11": "CgroupPlugin=disabled\n"}
"""Text of ``cgroup.conf`` by release: from 23.11 on slurmd needs control groups unless they are disabled."""


def slurm_conf(settings: Settings) -> str:
    """Text of ``slurm.conf``; the controller keeps its state and its log in the folder of the run."""
    nodes, last = settings.nodes, _FIRST_PORT + settings.nodes
    scheduler = (
        f"bf_interval={settings.bf_interval_s},bf_resolution={settings.bf_resolution_s},"
        f"bf_window={settings.bf_window_min},bf_max_job_test={settings.bf_max_job_test},"
        f"sched_interval={settings.sched_interval_s},batch_sched_delay={settings.batch_sched_delay_s}"
        f"{',bf_licenses' if settings.bf_licenses else ''}"
    )
    pools = ",".join(f"{name}:{count}" for name, count in settings.licenses.items())
    return f"""ClusterName=spillway
SlurmctldHost={HOST}(127.0.0.1)
SlurmctldPort={_FIRST_PORT}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
PluginDir=/usr/lib/x86_64-linux-gnu/slurm-wlm
StateSaveLocation={FOLDER}/state
SlurmdSpoolDir={FOLDER}/spool/%n
SlurmctldPidFile={FOLDER}/slurmctld.pid
SlurmdPidFile={FOLDER}/slurmd-%n.pid
SlurmctldLogFile={FOLDER}/slurmctld.log
SlurmdLogFile={FOLDER}/slurmd-%n.log
LogTimeFormat=iso8601_ms
SlurmctldDebug=debug2
ProctrackType=proctrack/pgid
SelectType=select/{settings.select}
{"SelectTypeParameters=CR_CPU" if settings.select == "cons_tres" else "# whole nodes"}
SchedulerType=sched/backfill
SchedulerParameters={scheduler}
JobCompType=jobcomp/filetxt
JobCompLoc={FOLDER}/jobcomp.txt
BurstBufferType=burst_buffer/lua
DebugFlags=BurstBuffer,Backfill,Priority
ReturnToService=2
{"SlurmdParameters=config_overrides" if settings.cpus > 1 else "# processors as they are"}
{f"Licenses={pools}" if pools else "# no licenses"}
NodeName=DEFAULT CPUs={settings.cpus} State=UNKNOWN
NodeName=n[1-{nodes}] NodeHostname={HOST} NodeAddr=127.0.0.1 Port={_FIRST_PORT + 1}-{last}
{_PLAIN.format(nodes=nodes) if settings.site is None else slurm_conf_lines(settings.site)}"""


def burst_buffer_lua(settings: Settings) -> str:
    """Text of ``burst_buffer.lua``: a pool, and staging that sleeps as long as a job's script says."""
    pools = f'{{"pools":[{{"id":"{POOL}","quantity":{settings.pool_units},"granularity":1}}]}}'
    return f"""
local function stage(script, key)
    local file = io.open(script, "r")
    local text = file:read("*a")
    file:close()
    os.execute("sleep " .. (text:match(key .. "=([%d.]+)") or "0"))
    return slurm.SUCCESS, ""
end
local function nothing() return slurm.SUCCESS, "" end
slurm_bb_job_process, slurm_bb_job_teardown, slurm_bb_setup = nothing, nothing, nothing
slurm_bb_real_size, slurm_bb_paths, slurm_bb_pre_run = nothing, nothing, nothing
slurm_bb_post_run, slurm_bb_get_status = nothing, nothing
slurm_bb_test_data_in, slurm_bb_test_data_out = nothing, nothing
function slurm_bb_pools() return slurm.SUCCESS, '{pools}' end
function slurm_bb_data_in(id, script) return stage(script, "stage_in") end
function slurm_bb_data_out(id, script) return stage(script, "stage_out") end
"""


class Submission(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A job as it is submitted.

    Attributes
    ----------
    at_s
        Time of submission, s after the first one.
    nodes, units
        Requested nodes and units of the pool; 0 units: no buffer.
    runtime_s
        Time that it sleeps, s.
    limit_min
        Its time limit, minutes, Slurm's shortest unit.
    stage_in_s, stage_out_s
        Time that its staging sleeps, s.
    partition, user, qos, licenses
        Only for a Slurm with a site; licenses as ``name:count``.
    depends
        Jobs that it waits for, by ``afterok`` or ``afterany`` and their numbers, from 1 in order of submission.
    """

    at_s: float
    nodes: int
    units: int
    runtime_s: float
    limit_min: int
    stage_in_s: float = 0.0
    stage_out_s: float = 0.0
    partition: str = ""
    user: str = ""
    qos: str = ""
    licenses: str = ""
    depends: str = ""


def job_script(job: Submission) -> str:
    """Text of the script that is submitted."""
    directive = f"#BB_LUA pool={POOL} capacity={job.units} stage_in={job.stage_in_s:g} stage_out={job.stage_out_s:g}\n"
    return f"#!/bin/sh\n{directive if job.units else ''}exec sleep {job.runtime_s:g}\n"
