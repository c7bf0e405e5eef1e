"""The table of mistakes, and the folder in which they are made."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from spillway.experiments.cli import main

REPOSITORY = Path(__file__).parents[2]
LINES = REPOSITORY / "tests" / "data" / "mistakes.txt"

FILES = {
    "mine.swf": "; MaxProcs: 16\n"
    + "".join(f"{n} {60 * n} -1 300 4 -1 -1 4 600 -1 1 1 1 -1 1 -1 -1 -1\n" for n in range(9)),
    "cut.swf": "; MaxProcs: 16\n1 0 -1 300 4 -1 -1 4 600 -1 1 1 1 -1 1 -1 -1 -1\n2 60 -1\n",
    "mine.py": "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Greedy:\n"
    "    '''Starts every job that fits.'''\n\n"
    "    def __call__(self, view):\n        return []\n",
    "broken.py": "class Greedy:\n    def __call__(self, view)\n        return []\n",
    "campaign.toml": 'polices = ["easy"]\n\n[[workload]]\nsource = "mine.swf"\n',
    "machine.toml": 'topology = "tree"\nnodez = 4\n',
    "crash.py": "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Crash:\n"
    "    def __call__(self, view):\n        return [view.queue[99]]\n",
    "wrong.mplstyle": "font.sze: 3\n",
    "value.mplstyle": "font.size: large-ish\n",
    "notes.txt": "no workload\n",
    "partitions.txt": "PartitionName=batch Default=YES MaxTime=1-00:00:00 Nodes=n[1-4] State=UP TotalNodes=4\n",
    "job.sh": "#!/bin/sh\n#DW jobdw type=xfs capacity=20GB name=out\n",
    "bad.sh": "#!/bin/sh\n#DW jobdw type=xfs capacity=20XB name=out\n",
    "rabbits.json": '{"computes": {"n1": "r1", "n2": "r2"}, '
    '"rabbits": {"r1": {"capacity": 5, "hostlist": "n[1-2]"}}}\n',
}

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Commands and options": (
        "spillway reprot results/mine",
        "spillway nonsense",
        "spillway run --worklaod mine.swf",
        "spillway run",
        "spillway whatif mine.swf mine.json --set load=x2",
        "spillway run --work mine.swf",
        "spillway workload convert mine.swf -o mine.json",
        "spillway platform draw thesis --output thesis.png",
        "spillway study thesiss",
        "spillway platform chek thesis",
        "spillway workload infos mine.swf",
        "spillway compare results/a results/b",
        "spillway list policy",
        "spillway completion fishh",
        "spillway completion",
        "spillway run mine.swf --timeout 5",
        "spillway run mine.swf --explain yes",
        "spillway run mine.swf --out ''",
        "spillway workload convert mine.swf --out mine.swf",
        "spillway verify-batsim extra",
        "spillway workload synth --jobs 5",
        "spillway study thesis --quik",
    ),
    "Inputs": (
        "spillway run --workload yours.swf",
        "spillway run --workload mime.swf",
        "spillway run --workload logs/mine.swf",
        "spillway run --workload no-such-log",
        "spillway run --workload kth-lik:jobs=9",
        "spillway run --workload kth-like:job=9",
        "spillway run --workload kth-like:jobs=many",
        "spillway run --workload 'parts/*.json'",
        "spillway run --workload cut.swf",
        "spillway run --workload mine.swf --seed -1",
        "spillway run --workload https://example.org/mine.swf",
        "spillway run --workload mine.swf --where queue=1",
        "spillway run --workload mine.swf --where partition=7",
        "spillway run --workload mine.swf --where time=2024-01-01",
        "spillway run --workload mine.swf --events failures:mtbf=9000",
        "spillway run --workload mine.swf --staging minuts=30",
        "spillway run --workload mine.swf --staging minutes=90",
        "spillway run . --policy easy",
        "spillway run mine.swf --seeds 0",
        "spillway run mine.swf --seeds three",
        "spillway run mine.swf --nodes sixteen",
        "spillway run mine.swf --platform thesis:nodes=3",
        "spillway run mine.swf --platform machine.xml",
        "spillway workload info notes.txt",
        "spillway workload info",
        "spillway workload split mine.swf --parts 0 --out parts",
        "spillway workload convert mine.swf --out nowhere/new.json",
        "spillway platform generate tree --nodes x",
        "spillway platform import machine.toml --out machine.toml",
        "spillway run --workload 'a.tar.xz!b.json'",
        "spillway run --workload mine.swf --stripes -1",
        "spillway workload convert",
        "spillway workload",
        "spillway workload info nix.swf",
        "spillway workload synth moon --out a.swf",
        "spillway workload synth kth-like --out no/such/a.swf",
        "spillway workload convert kth-like --out a.json --seed -1",
        "spillway workload convert kth-like --out a.json --storage-nodes -1",
        "spillway workload convert kth-like --out a.json --kappa x",
        "spillway workload split kth-like:jobs=3 --out /dev/null/x",
        "spillway workload fit kth-like:jobs=9",
        "spillway workload streams mine.swf --out w.json --jobs 0",
        "spillway workload streams mine.swf --out w.json --size-factor 1e9",
    ),
    "The machine": (
        "spillway run --workload mine.swf --platform thesi",
        "spillway run --workload mine.swf --platform machine.toml",
        "spillway run --workload mine.swf --nodes 0",
        "spillway run --workload mine.swf --nodes 16 --burst-buffer 40GX",
        "spillway run --workload mine.swf --nodes 16 --burst-buffer 200",
        "spillway run --workload mine.swf --burst-buffer 40GB --platform thesis",
        "spillway run --workload mine.swf --burst-buffer 40GB --burst-buffer-total 1TB",
        "spillway run --workload mine.swf --nodes 16 --platform thesis",
        "spillway platform check nowhere",
        "spillway platform generate thesis",
        "spillway workload directives job.sh",
        "spillway workload directives job.sh --nodes 2 --platform tiny",
        "spillway workload directives bad.sh --nodes 2",
        "spillway workload scripts mine.json --scripts nowhere --out new.json",
        "spillway platform fit notes.txt",
        "spillway platform import notes.txt --out new.toml",
        "spillway platform import rabbits.json --out new.toml",
        "spillway platform import rabbits.json",
        "spillway platform export thesiss --jgf new.json",
        "spillway run --workload mine.swf --burst-buffer-total 200",
        "spillway run --workload mine.swf --platform nodes:9,burst_buffer=200",
        "spillway run --workload mine.swf --platform nodes:x",
        "spillway run --workload mine.swf --platform nodes:9,storage=1GB",
        "spillway platform generate tiny --out nowhere/x.xml",
        "spillway platform generate x.xml --out y.xml",
        "spillway platform generate tiny -s pfs --out y.xml",
        "spillway platform draw tiny --out nowhere/x.png",
        "spillway platform init mine.toml",
        "spillway platform init mine.toml --nodes 4 --burst-buffer 7elephants",
        "spillway platform init mine.toml --nodes 4 --node-bandwidth fast",
        "spillway platform init mine.toml --nodes 0",
    ),
    "Policies, job models, settings": (
        "spillway run --workload mine.swf --policy esay",
        "spillway run --workload mine.swf --policy easy:depht=2",
        "spillway run --workload mine.swf --policy easy:depth=-1",
        "spillway run --workload mine.swf --policy easy -o fcfs.depth=2",
        "spillway run --workload mine.swf -o depth=2",
        "spillway run --workload mine.swf --policy mine.py:Gredy",
        "spillway run --workload mine.swf --policy broken.py:Greedy",
        "spillway run --workload mine.swf --policy nowhere.py:Greedy",
        "spillway run --workload mine.swf --model rigit",
        "spillway run --workload mine.swf --node-order sprad",
        "spillway run --workload mine.swf --history 0",
        "spillway serve gang --model io",
        "spillway run --workload mine.swf --policy gang --model io",
        "spillway run mine.swf --policy EASY",
        "spillway run mine.swf --policy easy,plan",
        "spillway run mine.swf --policy easy:depth",
        "spillway run mine.swf --policy easy:depth=2,depth=3",
        "spillway run mine.swf --bb-life slrum",
        "spillway run mine.swf --bb-life slurm:stage_in_timeout=-5",
        "spillway run mine.swf --on-outage requeu",
        "spillway run mine.swf --estimates walltimes",
        "spillway run mine.swf --transport tcp",
        "spillway check-policy easy:depth=2",
        "spillway check-policy mine.py:Gready",
        "spillway whatif mine.swf",
        "spillway whatif mine.swf --set polcy=plan",
        "spillway whatif mine.swf --set policy=pln",
        "spillway whatif mine.swf --set load",
        "spillway run --workload mine.swf --policy easy -o depth",
        "spillway check-policy no-such-policy",
        "spillway check-policy mine.py:Greedy --cases 0",
        "spillway check-policy mine.py:Greedy --cpu 0",
        "spillway check-policy mine.py:Greedy --case {}",
        "spillway whatif mine.swf --set storage.capcity=x2",
        "spillway whatif mine.swf --set nodes=many",
        "spillway whatif mine.swf --set storage.capacity=1.2",
        "spillway whatif mine.swf --set walltime=24",
        "spillway whatif mine.swf --set load=x0",
        "spillway whatif mine.swf --set 'walltime=3 weeks'",
        "spillway whatif mine.swf --set nodes=3 --shakes 3",
        "spillway whatif mine.swf --set nodes=3 --set nodes=4 --together",
        "spillway whatif mine.swf --set nodes=3 --nodes 4 --burst-buffer 200",
        "spillway new policy Shortest",
        "spillway new policy a_b",
        "spillway new policy ../a",
        "spillway new policy class",
        "spillway new policy -- -a",
        "spillway new policy ''",
    ),
    "Engines, workers and outputs": (
        "spillway run --workload mine.swf --engine fluide",
        "spillway run --workload mine.swf --workers -1",
        "spillway run --workload mine.swf --out notes.txt",
        "spillway whatif mine.swf --set load=x2 --out notes.txt/answer",
        "spillway study malleable --quick --out notes.txt",
        "spillway site import partitions.txt --out nowhere/site.toml",
        "spillway site import partitions.txt --out notes.txt/site.toml",
        "spillway run --workload mine.swf --dask tcp://a:1 --dask-jobqueue slurm",
        "spillway campaign.toml",
        "spillway campaign missing.toml",
        "spillway campaign notes.txt",
        "spillway workload gang --layout neigbours --out gang.json",
        "spillway run --workload mine.swf --tau 0",
        "spillway run --workload mine.swf --out /proc/nowhere",
        "spillway run --workload mine.swf --figures pdff",
        "spillway run --workload mine.swf --width 84",
        "spillway run --workload mine.swf --width 5mm",
        "spillway run --workload mine.swf --tables latex",
        "spillway run --workload mine.swf --style absent.mplstyle",
        "spillway run --workload mine.swf --style wrong.mplstyle",
        "spillway run --workload mine.swf --style value.mplstyle",
        "spillway run --workload mine.swf --image some/batsim:1",
        "spillway study thesis --data . --out out",
    ),
    "Results": (
        "spillway report results/mine",
        "spillway explain results/mine 12",
        "spillway export results/mine out.swf",
        "spillway verify results/mine",
        "spillway report mine.swf",
        "spillway report",
        "spillway explain mine.swf",
        "spillway export mine.swf",
    ),
    "Services, simulators and others": (
        "spillway serve",
        "spillway serve esay",
        "spillway serve easy --bind nonsense",
        "spillway serve easy --watchdog soon",
        "spillway serve easy --pass-limit 5",
        "spillway simulate",
        "spillway validate slurm --nodes 2",
        "spillway validate slurm --replay notes.txt",
        "spillway validate slurm --replay run.json --seed 2",
        "spillway simulate -p nowhere.xml",
        "spillway workload convert mine.swf",
        "spillway workload synth kth-lik --out a.swf",
        "spillway platform chek thesis",
        "spillway serve easy --bind tcp://127.0.0.1:99999",
        "spillway serve easy --max-message-bytes 0",
        "spillway serve mine.py:Greedy --seed x",
        "spillway simulate -p nowhere.xml -w notes.txt",
        "spillway conformance",
        "spillway conformance -- nosuchprogram",
        "spillway serve fcfs -o depth=-3",
        "spillway serve fcfs -o deepness=3",
        "spillway serve fcfs -o depth",
        "spillway serve fcfs --watchdog 0",
        "spillway serve fcfs --burst-buffer-bytes -1",
        "spillway serve fcfs --burst-buffer-bytes inf",
        "spillway serve fcfs --location-shape 3,x",
        "spillway serve fcfs --record nowhere/talk.jsonl",
        "spillway serve fcfs --frobnicate",
        "spillway serve fcfs --cadence daily",
        "spillway conformance --policy easy -- x {socket}",
        "spillway conformance --policy esay",
        "spillway conformance --policy crash.py:Crash",
        "spillway conformance --policy gang",
        "spillway conformance --policy all --discipline easy",
        "spillway conformance -- sh -c true",
        "spillway conformance --policy easy --world {}",
        'spillway conformance --policy easy --world \'{"nodes":1,"jobs":[[1,1,5,1],[1,1,5,2]],"storages":2,"gb":9}\'',
        "spillway conformance slurm --policy gang",
        "spillway conformance --policy easy slurm -- true {socket}",
        "spillway conformance slurm --policy easy --figure x.jpg",
        "spillway conformance --policy easy --figure x.png",
        "spillway conformance slurm -- true {socket}",
    ),
}
"""Wrong command lines by heading."""


@contextlib.contextmanager
def folder(path: Path) -> Iterator[None]:
    """Work in a folder with the table's files."""
    for name, text in FILES.items():
        (path / name).write_text(text)
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


def made(command: str) -> tuple[int, str]:
    """Make a mistake in this process: exit code, and the output of both streams."""
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
        code = main(shlex.split(command)[1:])
    return code, printed.getvalue()


def text(lines: Mapping[str, str]) -> str:
    """The recorded text, from the line of each command."""
    parts = []
    for group, commands in GROUPS.items():
        shown = "\n\n".join(f"$ {command}\n{lines[command]}" for command in commands)
        parts.append(f"# {group}\n\n{shown}\n")
    return "\n".join(parts)
