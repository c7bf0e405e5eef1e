"""Writes drawn jobs in each form of logs, as the systems print them."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

from spillway.workloads.logs.record import NUMBERS, TEXTS
from spillway.workloads.logs.table import JobTable

EPOCH_S = 1_600_000_000


@dataclass(frozen=True)
class Drawn:
    """A job that every form can hold."""

    number: int
    submit_s: int
    wait_s: int
    run_s: int
    nodes: int
    limit_s: int
    user: int
    buffer_gib: int


def records(table: JobTable) -> list[SimpleNamespace]:
    """The jobs of a table one by one."""
    columns = {name: table[name].tolist() for name in NUMBERS}
    columns |= {name: [table.names[name][code] for code in table[name].tolist()] for name in TEXTS}
    return [SimpleNamespace(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def draw(seed: int, count: int) -> list[Drawn]:
    """Jobs in order of submission, with limits of whole minutes."""
    rng = random.Random(seed)
    clock, jobs = 0, []
    for number in range(1, count + 1):
        clock += rng.randrange(1, 4000)
        run = rng.choice((1, 59, 3600, 90_000, rng.randrange(1, 10**6)))
        limit = 60 * rng.randrange(1, 20_000)
        jobs.append(
            Drawn(
                number,
                clock,
                rng.randrange(10**5),
                run,
                rng.randrange(1, 300),
                limit,
                rng.randrange(1, 9),
                rng.randrange(3),
            )
        )
    return jobs


def clock(seconds: int, between: str = "T") -> str:
    """A time as Slurm prints it."""
    return f"{datetime.fromtimestamp(EPOCH_S + seconds, UTC):%Y-%m-%d{between}%H:%M:%S}"


def limit(seconds: int) -> str:
    """A time limit as Slurm prints it."""
    days, rest = divmod(seconds, 86_400)
    text = f"{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text


def swf(jobs: Sequence[Drawn], more: str = "") -> str:
    """Standard Workload Format; ``more``: further columns."""
    return f"; UnixStartTime: {EPOCH_S}\n" + "".join(
        f"{j.number} {j.submit_s} {j.wait_s} {j.run_s} {j.nodes} -1 -1 {j.nodes} "
        f"{j.limit_s} -1 1 {j.user} -1 -1 1 -1 -1 -1{more}\n"
        for j in jobs
    )


SACCT = ("JobID", "User", "Partition", "State", "Submit", "Start", "End", "Elapsed", "Timelimit", "NNodes", "ReqTRES")


def sacct(jobs: Sequence[Drawn], columns: Sequence[str] = SACCT) -> str:
    """``sacct --parsable2``, each job with a step."""
    lines = ["|".join(columns)]
    for j in jobs:
        start, end = j.submit_s + j.wait_s, j.submit_s + j.wait_s + j.run_s
        buffers = f",bb/lua={j.buffer_gib}G" if j.buffer_gib else ""
        row = {
            "JobID": str(j.number), "User": f"u{j.user}", "Partition": "p", "State": "COMPLETED",
            "Submit": clock(j.submit_s), "Start": clock(start), "End": clock(end), "Elapsed": limit(j.run_s),
            "Timelimit": limit(j.limit_s), "NNodes": str(j.nodes),
            "ReqTRES": f"billing=1,cpu={j.nodes}{buffers},mem={j.nodes}G,node={j.nodes}",
        }  # fmt: skip
        step = row | {"JobID": f"{j.number}.batch", "NNodes": "1", "ReqTRES": "", "Timelimit": "", "User": ""}
        lines += ["|".join(found[name] for name in columns) for found in (row, step)]
    return "\n".join(lines) + "\n"


def jobcomp(jobs: Sequence[Drawn]) -> str:
    """``jobcomp/filetxt``."""
    return "".join(
        f"JobId={j.number} UserId=u{j.user}(1000) GroupId=g(1000) Name=a job=x JobState=COMPLETED Partition=p "
        f"TimeLimit={j.limit_s // 60} StartTime={clock(j.submit_s + j.wait_s)} "
        f"EndTime={clock(j.submit_s + j.wait_s + j.run_s)} NodeList=n[1-4] NodeCnt={j.nodes} ProcCnt={j.nodes} "
        f"WorkDir=/home/a b ReservationName= Tres=cpu={j.nodes},node={j.nodes},bb/lua={j.buffer_gib}G Account= QOS= "
        f"WcKey= Cluster=c SubmitTime={clock(j.submit_s)} EligibleTime={clock(j.submit_s)} "
        "DerivedExitCode=0:0 ExitCode=0:0 \n"
        for j in jobs
    )


def eagle(jobs: Sequence[Drawn]) -> str:
    """Eagle's CSV."""
    head = "job_id,user,partition,wallclock_req,nodes_req,processors_req,mem_req,submit_time,start_time,end_time,"
    return (
        head
        + "run_time,state,submit_line\n"
        + "".join(
            f"{j.number},u{j.user},p,{j.limit_s}.0,{j.nodes},{j.nodes},0.0,{clock(j.submit_s, ' ')},"
            f"{clock(j.submit_s + j.wait_s, ' ')},{clock(j.submit_s + j.wait_s + j.run_s, ' ')},{j.run_s}.0,COMPLETED,"
            f'"sbatch --bb=""capacity={j.buffer_gib}GiB"" a,b.sh"\n'
            for j in jobs
        )
    )


FORMS: dict[str, tuple[str, Callable[[Sequence[Drawn]], str]]] = {
    "swf": ("log.swf", swf),
    "sacct": ("log.txt", sacct),
    "jobcomp": ("log.log", jobcomp),
    "eagle": ("log.csv", eagle),
}
"""File name and writer of each text format."""


def parquet(jobs: Sequence[Drawn], path: Path, kind: str) -> None:
    """A parquet file of PM100 or F-DATA."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def times(offset: Callable[[Drawn], int]) -> pa.Array:
        return pa.array([datetime.fromtimestamp(EPOCH_S + offset(j), UTC) for j in jobs], pa.timestamp("ns", tz="UTC"))

    when = (
        times(lambda j: j.submit_s), times(lambda j: j.submit_s + j.wait_s),
        times(lambda j: j.submit_s + j.wait_s + j.run_s),
    )  # fmt: skip
    if kind == "PM100":
        columns = dict(zip(("submit_time", "start_time", "end_time"), when, strict=True)) | {
            "job_id": [j.number for j in jobs], "user_id": [f"u{j.user}" for j in jobs],
            "num_nodes_alloc": [j.nodes for j in jobs], "time_limit": [j.limit_s // 60 for j in jobs],
            "job_state": ["COMPLETED"] * len(jobs),
        }  # fmt: skip
    else:
        columns = dict(zip(("adt", "sdt", "edt"), when, strict=True)) | {
            "jid": [f"jid_{j.number}" for j in jobs], "usr": [f"u{j.user}" for j in jobs],
            "nnumr": [j.nodes for j in jobs], "elpl": [j.limit_s for j in jobs],
            "exit state": ["completed"] * len(jobs),
        }  # fmt: skip
    pq.write_table(pa.table(columns), path)
