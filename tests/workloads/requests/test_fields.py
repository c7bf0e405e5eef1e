"""Requests of directives: the limits of a site, and the fields of jobs that they become."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from spillway.experiments.cli.workload import requested, with_scripts
from spillway.schedulers.model.job import read_job
from spillway.schedulers.model.persistent import BufferRequests, Creation, buffer_requests_of
from spillway.schedulers.model.staging import staging_of
from spillway.workloads.batsim.json_file import read_batsim, write_batsim
from spillway.workloads.batsim.workload import Workload, WorkloadJob
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.directives import read_scripts
from spillway.workloads.requests.directives import Buffer, Requests, Spread, directives_of
from spillway.workloads.requests.fields import Site, fields_of, read_requests, read_site
from spillway.workloads.requests.scripted_jobs import scripted

GIB = 2**30
DATA = Path(__file__).parents[1] / "data"


def sets_of(path: Path) -> dict[str, tuple[str, int, int]]:
    """A breakdown's allocation sets: strategy, bytes and storage nodes (0: as many as it takes), by label."""
    status = yaml.safe_load(path.read_text())["status"]
    return {
        allocation_set["label"]: (
            allocation_set["allocationStrategy"],
            allocation_set["minimumCapacity"],
            allocation_set.get("constraints", {}).get("count", 0),
        )
        for allocation_set in status["storage"]["allocationSets"]
    }


def set_of(buffer: Buffer, site: Site) -> tuple[str, int]:
    """A buffer as a breakdown has it."""
    strategies = {Spread.PER_NODE: "AllocatePerCompute", Spread.STRIPED: "AllocateAcrossServers"}
    return strategies[buffer.spread], buffer.capacity_bytes


def test_the_workflow_object_and_its_breakdowns(reference: Path) -> None:
    """Two directives of 10 GiB: an xfs on each node, and a lustre over servers, as the breakdowns allocate them."""
    folder = reference / "data/sites/rabbit"
    requests, nodes = read_requests(folder / "two_directives.json", Site())
    xfs, lustre = requests.buffers
    assert (xfs.name, lustre.name, nodes) == ("project1", "project2", 0)
    assert set_of(xfs, Site()) == sets_of(folder / "xfs10gb.yaml")["xfs"][:2] == ("AllocatePerCompute", 10 * GIB)
    allocated = sets_of(folder / "lustre10gb_count2.yaml")["ost"]
    assert set_of(lustre, Site()) == allocated[:2] == ("AllocateAcrossServers", 10 * GIB)
    with pytest.raises(WorkloadError, match="not both: xfs per node, lustre striped"):
        fields_of(requests, 4, Site())


def test_the_directive_of_a_breakdown(reference: Path) -> None:
    """10 GiB with a profile of two servers: 5 GiB on each."""
    path = reference / "data/sites/rabbit/lustre10gb_count2.yaml"
    directive = yaml.safe_load(path.read_text())["spec"]["directive"]
    requests = directives_of([directive], "")
    site = Site(profiles={"osts-count-2": 2})
    strategy, size, count = sets_of(path)["ost"]
    assert (strategy, size) == set_of(requests.buffers[0], site)
    assert fields_of(requests, 4, site) == {
        "bb_total": size,
        "bb_stripes": count,
        "bb_kind": "lustre",
        "stage_in_bytes": 0,
        "stage_out_bytes": 0,
    }


def test_breakdowns_whose_directives_differ(reference: Path) -> None:
    """Two of the files allocate other sizes than their directives name: TB for TiB, and 10 GiB for 1 MB."""
    folder = reference / "data/sites/rabbit"
    for file, label, stated, allocated in (
        ("lustre10tb.yaml", "ost", 10 * 10**12, 10 * 2**40),
        ("xfs10gb.yaml", "xfs", 10**6, 10 * GIB),
    ):
        directive = yaml.safe_load((folder / file).read_text())["spec"]["dwRecord"]["dwDirective"]
        assert directives_of([f"#DW {directive}"], "").buffers[0].capacity_bytes == stated
        assert sets_of(folder / file)[label][1] == allocated


def test_jobspec(reference: Path) -> None:
    """One node and an SSD of one GiB; it has no directives."""
    requests, nodes = read_requests(reference / "data/sites/rabbit/rabbit-jobspec.json", Site())
    assert (requests, nodes) == (Requests(buffers=(Buffer(GIB, kind="ssd"),)), 1)


def test_limits_of_a_site(reference: Path) -> None:
    """Of the presets two are named for being too big, one fits."""
    site = read_site(reference / "data/sites/rabbit/rabbit.toml")
    assert site.maximums == {"xfs": 500 * GIB, "gfs2": 200 * GIB, "raw": 300 * GIB, "lustre": 100 * GIB}
    refused = {name: list(site.refusals(directives_of([line], ""), 1)) for name, line in site.presets.items()}
    assert refused == {
        "lustre_toobig": [
            "toobig (lustre): 214,748,364,800 bytes per node > 107,374,182,400, the site's maximum for lustre"
        ],
        "gfs2_toobig": ["toobig (gfs2): 268,435,456,000 bytes per node > 214,748,364,800, the site's maximum for gfs2"],
        "xfs_justright": [],
    }
    assert not list(site.refusals(directives_of([site.presets["lustre_toobig"]], ""), 2))  # 100 GiB a node


def test_files_of_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A script, and a jobspec that names a preset: requests in words, and fields of jobs."""
    lines = list(requested([DATA / "job.sh", DATA / "jobspec.json"], 3, DATA / "site.toml", "tiny", 1))
    assert [line.removeprefix(str(DATA)) for line in lines] == [
        "/job.sh: 3 nodes",
        "  buffer out for the job: 2,000,000,000 bytes per node",
        "  persistent buffer inputs used",
        "  staged in: /home/a to $DW_JOB_out/a",
        "  fields of the job: bb 2000000000, bb_kind xfs, "
        "stage_in_bytes 2000000000, stage_out_bytes 0, bb_use ['inputs']",
        "/jobspec.json: 4 nodes",
        "  buffer scratch for the job: 12,000,000,000 bytes striped, profile wide",
        "  staged out: $DW_JOB_scratch to /archive",
        "  fields of the job: bb_total 12000000000, bb_stripes 2, bb_kind lustre, "
        "stage_in_bytes 0, stage_out_bytes 6000000000",
    ]


@pytest.mark.parametrize(("line", "stripes", "inequality"), [
    ("#DW jobdw type=xfs capacity=11GB", 1, "11,000,000,000 bytes per node > 10,000,000,000, the largest storage"),
    ("#DW jobdw type=xfs capacity=6GB", 1, "3 nodes of 6,000,000,000 bytes > 2, as many as fit on the storage"),
    ("#DW jobdw type=lustre capacity=11GB", 1, "11,000,000,000 bytes on each of 1 storage nodes > 10,000,000,000"),
    ("#DW jobdw type=lustre capacity=11GB", 3, "3 storage nodes > 2, all that there are"),
    ("#BB_LUA pool=bb capacity=21GB", 2, "the buffer (striped): 21,000,000,000 bytes > 20,000,000,000, all storage"),
    ("#BB create_persistent name=p capacity=30GB", 2, "p (striped): 30,000,000,000 bytes > 20,000,000,000, all"),
])  # fmt: skip
def test_what_a_machine_cannot_hold(line: str, stripes: int, inequality: str) -> None:
    """Each refusal is an inequality with both numbers."""
    site = Site(stripes=stripes, storages=(10**10, 10**10))
    with pytest.raises(WorkloadError) as caught:
        fields_of(directives_of([line], ""), 3, site, "job.sh")
    assert str(caught.value).startswith("job.sh: the request cannot be met: ")
    assert inequality in str(caught.value)


@given(
    nodes=st.integers(1, 100),
    sizes=st.lists(st.integers(0, 10**13), min_size=1, max_size=3),
    kind=st.sampled_from(["xfs", "lustre", "private"]),
    stripes=st.integers(1, 8),
)
def test_fields_hold_what_is_requested(nodes: int, sizes: list[int], kind: str, stripes: int) -> None:
    """All nodes or stripes together hold all buffers, with less than a byte of each to spare on each."""
    key = "access_mode" if kind == "private" else "type"
    requests = directives_of([f"#DW jobdw {key}={kind} capacity={size}" for size in sizes], "")
    fields = fields_of(requests, nodes, Site(stripes=stripes))
    held = fields["bb_total"] if kind == "lustre" else fields["bb"] * nodes
    wanted = sum(sizes) * (nodes if kind == "xfs" else 1)
    assert wanted <= held < wanted + len(sizes) * nodes + (wanted == held)
    assert fields.get("bb_stripes", stripes) == stripes


def test_scripts_become_fields_that_a_scheduler_reads(tmp_path: Path) -> None:
    """Per node, striped, no request; one over the site's maximum is left out; a shared profile stays the others'."""
    lines = {
        1: "#DW jobdw type=xfs capacity=1GB name=a\n#DW copy_in source=a destination=b",
        2: "#DW jobdw type=lustre capacity=5GB name=b",
        3: "echo",
        4: "#DW jobdw type=xfs capacity=3GiB name=c",
        6: "#DW create_persistent name=d capacity=6GB\n#DW persistentdw name=e\n#DW destroy_persistent name=f",
    }
    for number, text in lines.items():
        (tmp_path / f"{number}.sh").write_text(f"#!/bin/sh\n{text}\n")
    profile = {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0, "bb": 7}
    jobs = tuple(
        WorkloadJob(number, 0, 2, "p", 100, {"user": "u", "stage_in_bytes": 3, "bb_kind": "old"})
        for number in range(1, 7)
    )
    (tmp_path / "w").mkdir()
    write_batsim(Workload("w", 8, jobs, {"p": profile}), tmp_path / "w" / "in.json")
    said = list(with_scripts(tmp_path / "w" / "in.json", tmp_path, DATA / "site.toml", 2, tmp_path / "w" / "out.json"))
    assert said[:2] == [
        "5 of 6 jobs have a script",
        "job 4 is left out: the request cannot be met: c (xfs): 3,221,225,472 bytes per node > 2,147,483,648, the "
        "site's maximum for xfs",
    ]
    made = read_batsim(tmp_path / "w" / "out.json")

    def moves(in_bytes: int, out_bytes: int) -> dict[str, int]:
        return {"stage_in_bytes": in_bytes, "stage_out_bytes": out_bytes}

    assert {job.name: job.extras for job in made.jobs} == {
        "1": {"user": "u", "bb": 10**9, "bb_kind": "xfs"} | moves(10**9, 0),
        "2": {"user": "u", "bb_total": 5 * 10**9, "bb_stripes": 2, "bb_kind": "lustre"} | moves(0, 0),
        "3": {"user": "u"},
        "5": {"user": "u", "stage_in_bytes": 3, "bb_kind": "old"},
        "6": {
            "user": "u",
            "bb_create": [{"name": "d", "bytes": 6 * 10**9, "stripes": 2}],
            "bb_use": ["e"],
            "bb_destroy": ["f"],
        },
    }
    read = [
        read_job(job.name, job.to_object(), made.profiles[job.profile], number, 0.0)
        for number, job in enumerate(made.jobs)
    ]
    assert [(job.bb_bytes, job.stripes) for job in read] == [(10**9, 0), (25 * 10**8, 2), (0, 0), (7, 0), (0, 0)]
    assert buffer_requests_of(read[4]) == BufferRequests(4, (Creation("d", 3 * 10**9, 2),), ("e",), ("f",))
    assert [staging_of(job).in_bytes for job in read[:2]] == [10**9, 0]
    with pytest.raises(WorkloadError, match=r"no job has a script \(1 jobs, 5 scripts\)"):
        scripted(replace(made, jobs=made.jobs[3:4]), read_scripts(tmp_path).by_job, Site())


@pytest.mark.parametrize(("data", "message"), [
    ({}, "expected a list of directives, a workflow object"),
    (["jobdw"], r"\[0\]: expected a directive such as '#DW jobdw ...', got 'jobdw'"),
    ({"spec": {"dwDirectives": 3}}, "spec.dwDirectives: expected a list of directives, got '3'"),
    ({"resources": [{"type": "node"}]}, r"resources\[0\]: expected a resource with a whole 'count'"),
    ({"resources": [], "attributes": {"system": {"dw": ["#DW jobdw capacity=1XB"]}}},
     r"attributes.system.dw\[0\]: #DW: capacity must be a capacity such as 100GB"),
])  # fmt: skip
def test_faults(data: Any, message: str, tmp_path: Path) -> None:
    """Located, in one line."""
    path = tmp_path / "job.json"
    path.write_text(json.dumps(data))
    with pytest.raises(WorkloadError, match=message):
        read_requests(path, replace(Site(), presets={}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rabbit = 3", "rabbit: expected a table, got '3'"),
        ("[rabbit.policy.maximums]\nxfs = -1", "rabbit.policy.maximums.xfs: expected a whole number of GiB, got '-1'"),
        ("[rabbit.presets]\na = '#DW jobdw capacity=x'", "rabbit.presets.a: #DW: capacity must be"),
        ("[rabbit.profiles]\na = 0", "rabbit.profiles.a: expected a whole number of storage nodes, got '0'"),
    ],
)
def test_faults_of_sites(text: str, message: str, tmp_path: Path) -> None:
    """With the key."""
    path = tmp_path / "rabbit.toml"
    path.write_text(text)
    with pytest.raises(WorkloadError, match=message):
        read_site(path)
