"""The same runs on the real Batsim and on the embedded simulator, and a table of the worst differences.

Both programs are started alike, get the same options, and are connected to the same scheduler's service over ZeroMQ.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spillway.analysis.document.blocks import Table
from spillway.analysis.document.terminal import show, terminal
from spillway.base import durable
from spillway.base.arguments import Parser, tell
from spillway.core import Stopwatch
from spillway.experiments.campaign.grid import expand
from spillway.experiments.campaign.inputs.input_files import Inputs
from spillway.experiments.run.batsim import BATSIM_VARIABLE, play_over_zmq
from spillway.experiments.run.errors import RunFailed, SpecError
from spillway.experiments.run.player_files import PREFIX
from spillway.experiments.run.prepared_input import checked
from spillway.experiments.run.sessions import model_spec, parse_policy, session_of
from spillway.experiments.run.spec import Campaign, PlatformSpec, RunSpec, Task, WorkloadSpec
from spillway.protocol.detect import AnyBatsim
from spillway.protocol.messages import Message
from spillway.protocol.transcript import Recorder, read_transcript
from spillway.simulator.reading.events import AVAILABLE, UNAVAILABLE
from spillway.workloads.batsim.batsim5 import to_batsim5
from spillway.workloads.batsim.json_file import read_batsim, write_batsim

HELP = "the embedded simulator against the real Batsim"
DESCRIPTION = (
    "Run fixed pairs of runs on the real Batsim and on the embedded simulator, and print their differences. Batsim "
    "is the program that the environment variable BATSIM names, else 'batsim' on PATH."
)
EPILOG = (
    "Exit codes: 0 all pairs are equal up to 2e-5 s; 1 a larger difference, or a run failed; 2 wrong input; 77 "
    "skipped, there is no Batsim."
)
EXAMPLES = """
BATSIM=/opt/batsim/bin/batsim spillway verify-batsim
BATSIM=/opt/batsim5/bin/batsim spillway verify-batsim --batsim 5
"""

LARGER = 1
"""Exit code when a difference is larger than the pair's bound."""
SKIPPED = 77
"""Exit code when there is no Batsim to compare with (test harnesses count it as a skipped test)."""

_BOUND_S = 2e-5
"""Largest difference in time that passes, s: above the stated difference of the worst model (1.7e-5 s)."""

_EMBEDDED = (sys.executable, "-m", "spillway", "simulate", "--no-wall-clock")
FILES = ("jobs.csv", "schedule.csv", "machine_states.csv", "consumed_energy.csv", "pstate_changes.csv")
_FILES_5 = ("jobs.csv",)
"""Compared files of Batsim 5, which has other forms of the other tables."""
MESSAGES = "messages"
"""Name of the conversation in the table of files."""

_FROM_SUMS = ("epower",)
"""Columns that are a quotient of small differences: rounding may change them by up to one in a thousand."""

_LAST_DIGIT = 1.5e-6
"""Largest difference by rounding of two numbers with six decimals."""

_REAL_SECONDS = ("scheduling_time", "simulation_time")
"""Columns with real seconds, which differ in every run."""

_ENERGY = ("-E", "-m", "master_host")
LOOPBACK = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="machine" routing="Full">
  <host id="master_host" speed="100Mf"><prop id="wattage_per_state" value="80:160"/></host>
{hosts}
  <link id="loopback" bandwidth="500MBps" latency="15us" sharing_policy="FATPIPE"/>
  <link id="wire" bandwidth="1GBps" latency="200us" sharing_policy="FATPIPE"/>
  <route src="master_host" dst="master_host"><link_ctn id="loopback"/></route>
{routes}
 </zone>
</platform>
"""
"""A machine like those of upstream's examples: the master has a loopback with a latency, and hosts state watts."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs that should give the same results.

    Attributes
    ----------
    name
        Name in the table.
    policy, model, platform, workload
        In the form of the command ``run``; platform ``loopback`` and workloads of :data:`DESCRIBED` are written here.
    options
        Further options of both simulators.
    events
        External events: time (s), whether the machines return, their ids.
    session
        Settings of the session.
    """

    name: str
    policy: str
    model: str = "rigid"
    platform: str = "thesis"
    workload: str = "kth-like:jobs=60"
    options: tuple[str, ...] = ()
    events: tuple[tuple[float, bool, str], ...] = ()
    session: Mapping[str, str] = field(default_factory=dict)


def _periods(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    return {}, {"periods": {"count": 3, "compute_s": 10 + number, "io_bytes": 20e9 + 1e9 * number}}


def _nodes_of_files(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    first = 4 * (number % 20)
    return {"file_nodes": list(range(first, first + 4)), "io_blocks": 100 * (number % 3)}, {
        "type": "delay",
        "delay": 60 + number,
    }


def _application(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    times = {"nodes": [1, 2, 4, 8], "cpu": [8, 4, 2, 1], "comm": [0, 0.1, 0.2, 0.3], "io": [4, 2, 1, 1]}
    shape = {"iterations": 24, "io_every": 6, "control_every": 3, "minimum": 2, "maximum": 8, "overhead": 1}
    return {}, {"malleable": shape | {"io_bytes": 10**10, "model": times, "variation": [1, 1.05, 0.95]}}


def _ties(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Submissions, walltimes, ends and calls at whole multiples of 100 s."""
    return {"subtime": 100 * (number // 2), "res": 48, "walltime": 100 * (1 + number % 3)}, {
        "cpu": (100e9, 250e9, 300e9)[number % 3]
    }


def _kept(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A persistent buffer that the first job creates, the last one destroys, and all others use."""
    name = "reference"
    if number == 0:
        return {"res": 0, "bb_create": [{"name": name, "bytes": 4 * 10**9, "stripes": 2}]}, {}
    return {"bb_destroy": [name]} if number == 19 else {"bb_use": [name]}, {}


def _buffers(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A burst buffer for half of the jobs."""
    return {"bb": 10**10 * (number % 2), "subtime": 30 * number, "res": 40}, {}


DESCRIBED: dict[str, Callable[[int], tuple[dict[str, Any], dict[str, Any]]]] = {
    "periods": _periods,
    "files": _nodes_of_files,
    "applications": _application,
    "ties": _ties,
    "persistent": _kept,
    "buffers": _buffers,
}
"""Particular fields of the job and of the profile with a number, for workloads that describe a model's operations."""


def described(name: str) -> dict[str, Any]:
    """The Batsim workload of 20 jobs with a name of :data:`DESCRIBED`."""
    jobs, profiles = [], {}
    for number in range(20):
        of_job, of_profile = DESCRIBED[name](number)
        label = str(number)
        jobs.append({"id": label, "subtime": 7 * number, "res": 4, "profile": label, "walltime": 3000} | of_job)
        computing = {"type": "parallel_homogeneous", "cpu": (60 + 5 * number) * 1e9, "com": 0}
        profiles[label] = of_profile if "type" in of_profile else computing | of_profile
    return {"nb_res": 96, "jobs": jobs, "profiles": profiles}


OUTAGES = ((50.0, False, "0 7"), (60.0, True, "0"), (200.0, False, "20-30"), (700.0, True, "7 20-30"))
"""Machines that return under a running job, at the instant of submissions, and without a job."""

PAIRS = (
    *(Pair(f"alloc-{policy}", policy) for policy in ("fcfs", "filler", "easy", "sjf-easy", "conservative")),
    Pair("io-easy", "easy", "io", workload="kth-like:jobs=25"),
    Pair("io-fcfs", "fcfs", "io", workload="kth-like:jobs=25"),
    Pair("stream-easy", "easy", "stream", workload="kth-like:jobs=25"),
    Pair("gang", "gang", "timeshared", workload="kth-like:jobs=25"),
    Pair("gang-files", "gang-io", "timeshared", workload="files"),
    Pair("operations-easy", "easy", "operations", workload="periods"),
    Pair("gates", "easy", "operations", workload="periods", session={"io_control": "exclusive"}),
    Pair("malleable", "easy", "malleable", workload="applications"),
    Pair("plan", "plan:steps=50", workload="buffers"),
    Pair("pack", "pack", "operations", workload="periods"),
    Pair("checkpointed", "easy", "checkpointed:interval=900,checkpoint=20,restart=10", workload="kth-like:jobs=25"),
    Pair("lives-slurm", "slurm-backfill", workload="buffers", session={"bb_life": "slurm"}),
    Pair("lives-standby", "easy", workload="buffers", session={"bb_life": "standby"}),
    Pair("persistent", "fcfs", workload="persistent"),
    Pair("outages-continue", "easy", workload="ties", events=OUTAGES),
    Pair("outages-requeue", "easy", workload="ties", events=OUTAGES, session={"on_outage": "requeue"}),
    Pair("ties-conservative", "conservative", workload="ties"),
    Pair("ties-fcfs", "fcfs", workload="ties"),
    Pair("slurm-backfill", "slurm-backfill", workload="ties"),
    Pair("loopback-slurm", "slurm-backfill", platform="loopback"),
    Pair("loopback-ties", "easy", platform="loopback", workload="ties"),
    Pair("loopback-fcfs", "fcfs", platform="loopback"),
    Pair("loopback-energy", "easy", platform="loopback", options=_ENERGY),
)
"""The compared pairs; names are unique."""


_WITHOUT_STREAMS = "Batsim 5 has no I/O jobs beside others"


def _not_in_batsim_5(pair: Pair) -> str:
    """The reason why Batsim 5 cannot play a pair; "" if it can."""
    if pair.events:
        return "Batsim 5 has no events for outages"
    return _WITHOUT_STREAMS if pair.model == "stream" else ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Differences of one file between both runs.

    Attributes
    ----------
    rows, equal
        Rows of the longer file, and those that are the same byte for byte.
    worst_s
        Largest difference in a column of times, s; infinite if a row is missing.
    others
        Other columns that differ.
    """

    file: str
    rows: int
    equal: int
    worst_s: float
    others: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Whether only times differ, and by no more than the bound."""
        return self.worst_s <= _BOUND_S and not self.others


def compare(ours: Path, theirs: Path) -> Difference:
    """Compare two tables of one kind, row by row.

    Energy in J and slowdowns follow from times: they must be the same to the last digit but one if all times of the row
    are the same, and else to one in a million.
    """
    header, left = _table(ours)
    other_header, right = _table(theirs)
    if header != other_header:
        return Difference(ours.name, max(len(left), len(right)), 0, math.inf, ("header",))
    equal, worst, others = 0, 0.0 if len(left) == len(right) else math.inf, set()
    for item, other in zip(left, right, strict=False):
        equal += item == other
        differing = [(name, a, b) for name, a, b in zip(header, item, other, strict=False) if a != b]
        late = [_difference(a, b) for name, a, b in differing if _is_time(name)]
        worst = max([worst, *late])
        share = 1e-6 if late else 0.0
        for name, a, b in differing:
            allowed = max(_LAST_DIGIT, (1e-3 if name in _FROM_SUMS else share) * abs(_number(a)))
            if not _is_time(name) and (name == "allocated_resources" or not _difference(a, b) <= allowed):
                others.add(name)
    return Difference(ours.name, max(len(left), len(right)), equal, worst, tuple(sorted(others)))


def _is_time(name: str) -> bool:
    return name in ("time", "makespan") or name.endswith("_time")


def compare_messages(ours: Path, theirs: Path) -> Difference:
    """Compare the messages of both simulators, except the first one, which has names of files."""
    left, right = (_said(path) for path in (ours, theirs))
    equal, worst, others = 0, 0.0 if len(left) == len(right) else math.inf, set()
    for message, other in zip(left, right, strict=False):
        equal += message == other
        worst = max(worst, abs(message.now - other.now))
        if [type(event) for event in message.events] != [type(event) for event in other.events]:
            others.add("events")
    return Difference(MESSAGES, max(len(left), len(right)), equal, worst, tuple(sorted(others)))


def _said(path: Path) -> list[Message]:
    """A simulator's messages after its first and, in Batsim 5, the handshake."""
    codec, frames = AnyBatsim(), [exchange.received for exchange in read_transcript(path)]
    greeted = codec.greet(frames[0]) is not None
    return [codec.decode_message(frame) for frame in frames[greeted:]][1:]


def _table(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows, without columns of real seconds."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    if not rows:
        return [], []
    kept = [index for index, name in enumerate(rows[0]) if name not in _REAL_SECONDS]
    return [rows[0][index] for index in kept], [[row[index] for index in kept if index < len(row)] for row in rows[1:]]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _difference(one: str, other: str) -> float:
    """Absolute difference of two numbers; infinite if a text is not a number."""
    difference = abs(_number(one) - _number(other))
    return math.inf if math.isnan(difference) else difference


def verify(
    pairs: Sequence[Pair], program: Sequence[str], folder: Path, batsim: int = 4
) -> dict[str, list[Difference] | str]:
    """Run all pairs on a version of Batsim; return the differences by name, or the reason why a run did not finish."""
    embedded = (*_EMBEDDED, "--batsim", "5") if batsim == 5 else _EMBEDDED
    spelled, files = (_arguments_5, _FILES_5) if batsim == 5 else (None, FILES)
    found: dict[str, list[Difference] | str] = {}
    for pair in pairs:
        root = folder / pair.name
        root.mkdir(parents=True)
        try:
            run = _run(pair, root)
            for side, command in (("theirs", tuple(program)), ("ours", embedded)):
                place = root / side
                place.mkdir()
                session = Stopwatch(session_of(run).session(), lambda _: None)
                with Recorder(place / MESSAGES) as recorder:
                    task = Task(run, root, simulator=(*command, *pair.options))
                    play_over_zmq(task, place, session, quiet=False, recorder=recorder, spelled=spelled)
            found[pair.name] = [
                compare_messages(root / "ours" / MESSAGES, root / "theirs" / MESSAGES),
                *_files(root, files),
            ]
        except (RunFailed, OSError) as error:
            found[pair.name] = str(error)
    return found


def _arguments_5(run: RunSpec, root: Path, folder: Path, endpoint: str) -> list[str]:
    """Batsim 5's options for a run; its workload is written in Batsim 5's format."""
    workload = folder / "workload.json"
    write_batsim(to_batsim5(read_batsim(checked(root, run.workload))), workload)
    files = ["-p", str(checked(root, run.platform).resolve()), "-w", str(workload.resolve())]
    return [*files, "-s", endpoint, "", "-e", str((folder / PREFIX).resolve())]


def _files(root: Path, names: Sequence[str]) -> list[Difference]:
    """Compare the tables of both sides, with any prefix."""
    found = [
        [next((root / side).rglob(f"*{name}"), root / side / name) for side in ("ours", "theirs")] for name in names
    ]
    return [compare(*sides) for sides in found if any(path.exists() for path in sides)]


def _run(pair: Pair, root: Path) -> RunSpec:
    source = pair.platform
    if source == "loopback":
        source = str(root / "loopback.xml")
        durable.write_text(Path(source), _loopback(96))
    workload = pair.workload
    if workload in DESCRIBED:
        workload = str(root / f"{workload}.json")
        durable.write_text(Path(workload), json.dumps(described(pair.workload)))
    model = model_spec(pair.model)
    events = root / "events.txt"
    durable.write_text(events, "".join(map(_event, pair.events)))
    campaign = Campaign(
        name="verify",
        workloads=(WorkloadSpec(source=workload),),
        platforms=(PlatformSpec(source=source),),
        policies=(parse_policy(pair.policy, session=pair.session),),
        models=(model,),
        seeds=(0,),
    )
    inputs = Inputs(root, lambda _: None)
    prepared = inputs.pairs(campaign.workloads, campaign.platforms, model, 0)
    events_of = inputs.events_of(str(events) if pair.events else "")
    (run,) = expand(campaign, {(model.label, 0): prepared}, events=events_of)
    return run


def _event(change: tuple[float, bool, str]) -> str:
    time_s, back, machines = change
    return json.dumps({"timestamp": time_s, "type": AVAILABLE if back else UNAVAILABLE, "resources": machines}) + "\n"


def _loopback(count: int) -> str:
    watts = '<prop id="wattage_per_state" value="60:70:120"/>'
    names = [f"n{number}" for number in range(count)]
    hosts = [f'  <host id="{name}" speed="1Gf">{watts}</host>' for name in names]
    ends = ["master_host", *names]
    routes = [
        f'  <route src="{end}" dst="{other}"><link_ctn id="wire"/></route>'
        for position, end in enumerate(ends)
        for other in ends[position + 1 :]
    ]
    return LOOPBACK.format(hosts="\n".join(hosts), routes="\n".join(routes))


def table(found: Mapping[str, Sequence[Difference] | str], lacking: Mapping[str, str]) -> Table:
    """The differences: a row for each pair and file; pairs that were not finished, or not played (with the reason)."""
    rows: list[tuple[str, ...]] = []
    for name, differences in found.items():
        if isinstance(differences, str):
            rows.append((name, "", "", "", "", f"not finished: {' '.join(differences.split())[:160]}"))
            continue
        for item in differences:
            also, file = ", ".join(item.others), item.file.removeprefix(f"{PREFIX}_")
            rows.append((name, file, f"{item.rows}", f"{item.equal}", f"{item.worst_s:.3g}", also))
    rows += [(name, "", "", "", "", f"not played: {why}") for name, why in lacking.items() if why]
    return Table(("pair", "file", "rows", "equal", "worst dt s", "also different"), rows)


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--only", action="append", default=[], metavar="PAIR", help="this pair; may be repeated")
    parser.add_argument("--batsim", type=int, choices=(4, 5), default=4, help="version of Batsim (%(default)s)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="new folder for the files of all runs")


def command(options: argparse.Namespace) -> int:
    """Run the pairs; return the exit code.

    Raises
    ------
    SpecError
        A pair or the program does not exist, or the folder of ``keep`` exists already.
    """
    only, keep, batsim = options.only, options.keep, options.batsim
    known = {pair.name: pair for pair in PAIRS}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise SpecError(f"there is no pair {unknown[0]!r}; known: {', '.join(known)}")
    given = os.environ.get(BATSIM_VARIABLE, "")
    program = shutil.which(given or "batsim")
    if program is None:
        if given:
            raise SpecError(f"{BATSIM_VARIABLE}={given!r} is no program; set it to Batsim {batsim}, or unset it")
        tell(f"verify-batsim: skipped: there is no 'batsim' on PATH, and {BATSIM_VARIABLE} names no program")
        return SKIPPED
    if keep is not None and keep.exists():
        raise SpecError(f"--keep: {str(keep)!r} exists already; name a new folder")
    chosen = [known[name] for name in only] or PAIRS
    lacking = {pair.name: _not_in_batsim_5(pair) for pair in chosen if batsim == 5}
    with tempfile.TemporaryDirectory() as temporary:
        played = [pair for pair in chosen if not lacking.get(pair.name)]
        found = verify(played, (program,), keep or Path(temporary), batsim)
    show(terminal(), table(found, lacking))
    passed = [not isinstance(item, str) and all(difference.passes for difference in item) for item in found.values()]
    tell(f"{sum(passed)} of {len(passed)} pairs equal up to {_BOUND_S:g} s ({program})")
    return 0 if all(passed) else LARGER
