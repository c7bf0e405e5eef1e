"""The hostile files, with the commands that read each."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import socket
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.analysis.report.hostile_names import write_hostile_campaign
from tests.analysis.samples import write_run

MB = 1 << 20
WORKLOADS = ("info", "run", "simulate")
LOGS = ("info", "convert", "run")
PLATFORMS = ("check", "run-on", "simulate-on")
HOST = '<host id="h" speed="1Gf"/>'


@dataclass(frozen=True)
class Case:
    """One hostile file.

    Attributes
    ----------
    name
        Of the file, or of the folder.
    commands
        The commands that read it (:data:`tools.hostile.commands.COMMANDS`).
    make
        Makes it at a path and returns the argument for the commands.
    lawful
        Whether it is in order after all: then the exit code is 0.
    heavy
        Whether making or reading it takes more than a moment.
    """

    name: str
    commands: tuple[str, ...]
    make: Callable[[Path], Path | str]
    lawful: bool = False
    heavy: bool = False


def content(data: bytes | str) -> Callable[[Path], Path]:
    """Make a file with this content."""

    def make(path: Path) -> Path:
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return make


def packed_zeros(pack: Callable[[bytes], bytes], count: int) -> Callable[[Path], Path]:
    """Make a file of ``count`` packed pieces of 64 MB of zeros."""
    return lambda path: content(pack(bytes(64 * MB)) * count)(path)


def bomb_archive(path: Path) -> str:
    """A ``.tar.xz`` with one member of 1.5 GB of zeros."""
    head = tarfile.TarInfo("part.json")
    head.size = 24 * 64 * MB
    path.write_bytes(lzma.compress(head.tobuf()) + lzma.compress(bytes(64 * MB)) * 24)
    return f"{path}!part.json"


def cut_archive(path: Path) -> str:
    """The first half of a ``.tar.gz``."""
    text = io.BytesIO()
    with tarfile.open(fileobj=text, mode="w:gz") as tar:
        entry = tarfile.TarInfo("part.json")
        entry.size = MB
        tar.addfile(entry, io.BytesIO(os.urandom(MB)))
    path.write_bytes(text.getvalue()[: MB // 2])
    return f"{path}!*.json"


def workload(**changes: object) -> str:
    """A workload of one job with some fields replaced: those of the file, or of its job with ``job_`` before."""
    job = {"id": "1", "subtime": 0, "res": 1, "walltime": 20, "profile": "p"}
    job |= {name.removeprefix("job_"): value for name, value in changes.items() if name.startswith("job_")}
    top = {"nb_res": 1, "jobs": [job], "profiles": {"p": {"type": "delay", "delay": 10}}}
    return json.dumps(top | {name: value for name, value in changes.items() if not name.startswith("job_")})


def chain(length: int) -> str:
    """Profiles each of which is made of the next."""
    profiles: dict[str, object] = {
        f"p{number}": {"type": "composed", "seq": [f"p{number + 1}"]} for number in range(length)
    }
    profiles |= {f"p{length}": {"type": "delay", "delay": 1}, "p": {"type": "delay", "delay": 1}}
    return workload(profiles=profiles, job_profile="p0")


def tree(levels: int) -> str:
    """Profiles each of which is the next one twice: 2 to the power of ``levels`` tasks."""
    profiles: dict[str, object] = {
        f"p{number}": {"type": "composed", "seq": [f"p{number + 1}"] * 2} for number in range(levels)
    }
    return workload(profiles=profiles | {f"p{levels}": {"type": "delay", "delay": 1}}, job_profile="p0")


def platform(inside: str, head: str = '<?xml version="1.0"?>') -> str:
    """A platform file."""
    return f'{head}\n<platform version="4.1"><zone id="z" routing="Full">{inside}</zone></platform>\n'


def cluster(radical: str, bandwidth: str = "1MBps") -> str:
    """A platform of one cluster."""
    element = f'<cluster id="c" prefix="n" suffix="" radical="{radical}" speed="1Gf" bw="{bandwidth}" lat="0"/>'
    return f'<platform version="4.1">{element}</platform>'


def entities(count: int) -> str:
    """Ten entities, each ten times the one before: the billion laughs."""
    lines = ['<!ENTITY e0 "ha">']
    lines += [f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, count)]
    return platform(f'<host id="&e{count - 1};" speed="1Gf"/>', f"<!DOCTYPE platform [{''.join(lines)}]>")


def campaign(extra: str = "", policy: str = "", options: str = "") -> str:
    """A campaign file of one run on a generated log."""
    policies = f'[[policy]]\npolicy = "fcfs"\n{policy}\n{options}'
    return f'plots = false\n{extra}\n[[workload]]\nsource = "kth-like:jobs=5"\n{policies}\n'


def pipe(path: Path) -> Path:
    """A pipe to which nothing is written."""
    os.mkfifo(path)
    return path


def listening(path: Path) -> Path:
    """A socket."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
    return path


def folder(path: Path) -> Path:
    """A folder where a file is expected."""
    path.mkdir()
    return path


def table(**files: bytes) -> Callable[[Path], Path]:
    """A run's folder with some of its files replaced."""

    def make(path: Path) -> Path:
        write_run(path)
        (path / "run.json").write_text('{"status": "finished"}')
        for name, data in files.items():
            (path / name.replace("_", ".")).write_bytes(data)
        return path

    return make


def summary(text: str) -> Callable[[Path], Path]:
    """A campaign's folder with this table."""

    def make(path: Path) -> Path:
        path.mkdir()
        (path / "summary.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
        return path

    return make


SUMMARY = "workload,platform,policy,engine,model,seed,jobs,run\n"
MANY = "\n".join(f"o{number} = [{', '.join(map(str, range(128)))}]" for number in range(3))
CASES = (
    Case("bomb.json.gz", WORKLOADS, packed_zeros(gzip.compress, 32), heavy=True),
    Case("bomb.json.xz", WORKLOADS, packed_zeros(lzma.compress, 32), heavy=True),
    Case("bomb.swf.gz", LOGS, packed_zeros(gzip.compress, 32), heavy=True),
    Case("bomb.xml.xz", PLATFORMS, packed_zeros(lzma.compress, 32), heavy=True),
    Case("bomb.tar.xz", ("run",), bomb_archive, heavy=True),
    Case("cut.tar.gz", ("run",), cut_archive),
    Case("zero.json", WORKLOADS, lambda path: (path.symlink_to("/dev/zero"), path)[1]),
    Case("zero.swf", LOGS, lambda path: (path.symlink_to("/dev/zero"), path)[1]),
    Case("zero.xml", PLATFORMS, lambda path: (path.symlink_to("/dev/zero"), path)[1]),
    Case("zero.toml", ("check", "campaign"), lambda path: (path.symlink_to("/dev/zero"), path)[1]),
    Case("pipe.json", WORKLOADS, pipe),
    Case("pipe.toml", ("check", "campaign"), pipe),
    Case("socket.xml", PLATFORMS, listening),
    Case("folder.json", WORKLOADS, folder),
    Case("deep.json", WORKLOADS, content('{"nb_res": ' + "[" * 100_000)),
    Case("deep-extra.json", WORKLOADS, content(workload(job_x=json.loads("[" * 150 + "]" * 150)))),
    Case("deep.toml", ("check", "campaign"), content("a = " + "[" * 50_000)),
    Case("dotted.toml", ("check", "campaign"), content("a" + ".a" * 5_000 + " = 1")),
    Case("chain.json", WORKLOADS, content(chain(50_000)), heavy=True),
    Case("tree.json", WORKLOADS, content(tree(60))),
    Case("digits.json", WORKLOADS, content(workload(job_res=0).replace('"res": 0', '"res": ' + "9" * 5000))),
    Case("digits.toml", ("check", "campaign"), content(campaign("seeds = [" + "9" * 5000 + "]"))),
    Case("huge.json", WORKLOADS, content(workload(job_res=10**400))),
    Case("endless.json", WORKLOADS, content(workload().replace('"subtime": 0', '"subtime": 1e400'))),
    Case("nan.json", WORKLOADS, content(workload().replace('"subtime": 0', '"subtime": NaN'))),
    Case("twice.json", WORKLOADS, content(workload().replace('"nb_res": 1', '"nb_res": 1, "nb_res": 1'))),
    Case("latin.json", WORKLOADS, content(workload(job_user="x").encode().replace(b'"x"', b'"\xff"'))),
    Case("nul.json", WORKLOADS, content(b"\0" * 1000)),
    Case("long-line.swf", LOGS, content("1 " * (20 * MB)), heavy=True),
    Case("nul.swf", LOGS, content(b"\0" * MB)),
    Case("endless.swf", LOGS, content("1 0 0 1e999 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n")),
    Case("many-hosts.xml", PLATFORMS, content(cluster("0-999999999"))),
    Case("negative.xml", PLATFORMS, content(cluster("0-3", "-5MBps"))),
    Case("absurd.xml", PLATFORMS, content(cluster("0-3", "1e400MBps"))),
    Case("laughs.xml", PLATFORMS, content(entities(10))),
    Case(
        "outside.xml",
        PLATFORMS,
        content(platform('<host id="&e;" speed="1Gf"/>', '<!DOCTYPE p [<!ENTITY e SYSTEM "file:///etc/passwd">]>')),
    ),
    Case("encoding.xml", ("check", "simulate-on"), content(platform(HOST, '<?xml version="1.0" encoding="klingon"?>'))),
    Case("wide.xml", ("check", "simulate-on"), content(platform(HOST, '<?xml version="1.0" encoding="big5"?>'))),
    Case("deep.xml", PLATFORMS, content('<platform version="4.1">' + '<zone id="z" routing="Full">' * 100_000)),
    Case("no-utf8.xml", PLATFORMS, content(platform(HOST).encode().replace(b'"h"', b'"\xff"'))),
    Case("long-label.toml", ("campaign",), content(campaign(policy=f'label = "{"x" * 5000}"'))),
    Case("path-label.toml", ("campaign",), content(campaign(policy='label = "../../../tmp/$x^2$ [/b]"')), lawful=True),
    Case("line-label.toml", ("campaign",), content(campaign(policy='label = "a\\nb"'))),
    Case("nul-source.toml", ("campaign",), content(campaign().replace("kth-like:jobs=5", "a\\u0000b.swf"))),
    Case("many-runs.toml", ("campaign",), content(campaign(options=f"[policy.options]\n{MANY}"))),
    Case("binary.toml", ("check", "campaign"), content(bytes(range(256)))),
    Case("names", ("report",), lambda path: write_hostile_campaign(folder(path)), lawful=True),
    Case("field", ("report",), summary(SUMMARY + '"' + "x" * 300_000)),
    Case("elsewhere", ("report",), summary(SUMMARY + "a,b,c,d,e,0,1,../../../etc\n")),
    Case("no-text", ("report",), summary(SUMMARY + "\udcff\udcfe\n")),
    Case("nul-table", ("explain",), table(jobs_csv=b"\0" * 100_000)),
    Case("long-field", ("explain",), table(jobs_csv=b"job_id," + b"x" * 300_000)),
    Case("intervals", ("explain",), table(allocations_csv=b'"' + b"x" * 300_000)),
    Case("machine", ("explain",), table(machine_json=b"[" * 100_000)),
    Case("events.txt", ("events",), content("[" * 100_000)),
    Case(
        "intervals.txt", ("events",), content('{"type":"machine_unavailable","timestamp":1,"resources":"0-999999999"}')
    ),
    Case("zero.txt", ("events",), lambda path: (path.symlink_to("/dev/zero"), path)[1]),
)
