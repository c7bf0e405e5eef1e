"""Batsim workload files: round trip, located errors, deterministic bytes."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spillway.workloads import Workload, WorkloadError, WorkloadJob, read_batsim, write_batsim
from spillway.workloads.batsim import json_file
from spillway.workloads.batsim.json_file import format_batsim, parse_batsim
from tests.kit.cases import cases
from tests.workloads.conftest import DATA

MALFORMED = dict(cases("workload-json"))

PROFILES: dict[str, dict[str, Any]] = {
    "work": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 3, "bb": 10**9},
    "wait": {"type": "delay", "delay": 0.5, "ret": 3},
    "matrix": {"type": "parallel", "cpu": [1, 2.5], "com": [0, 1, 2, 0]},
    "both": {"type": "composed", "seq": ["wait", "work"], "repeat": 2},
    "stage": {"type": "data_staging", "nb_bytes": 1, "from": "a", "to": "b"},
    "store": {"type": "parallel_homogeneous_pfs", "bytes_to_write": 7, "storage": "pfs"},
    "total": {"type": "parallel_homogeneous_total", "cpu": 1, "com": 0, "free": {"é": [None, True]}},
}
seconds = st.one_of(st.integers(0, 10**9), st.floats(0, 1e9, allow_nan=False))
jobs = st.builds(
    WorkloadJob,
    id=st.one_of(st.integers(1 - (1 << 63), (1 << 63) - 1), st.text("abcXYZ_-. é", min_size=1)),
    subtime=seconds,
    res=st.just(2),
    profile=st.sampled_from(sorted(PROFILES)),
    walltime=st.one_of(st.none(), st.integers(1, 10**9), st.floats(1e-3, 1e9)),
    extras=st.dictionaries(st.sampled_from(["user", "note"]), st.one_of(st.integers(), st.text(), st.none())),
)
workloads = st.builds(
    Workload,
    name=st.text(min_size=1, max_size=10),
    nb_res=st.integers(1, 10**6),
    jobs=st.lists(jobs, max_size=5, unique_by=lambda job: job.name).map(tuple),
    profiles=st.just(PROFILES),
    description=st.text(max_size=10),
    extras=st.dictionaries(st.sampled_from(["date", "command"]), st.one_of(st.text(), st.integers())),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)


@given(workloads)
def test_round_trip(workload: Workload) -> None:
    """A written workload is read as the same one with the same checksum, and written again as the same text."""
    text = format_batsim(workload)
    again = parse_batsim(text.encode())
    assert again == workload
    assert again.checksum == workload.checksum
    assert format_batsim(again) == text


@given(values, st.sampled_from(["top", "nb_res", "jobs", "job", "profiles", "profile", *PROFILES["work"], "id", "res"]))
@example(10**5000, "res")
@example(float("inf"), "cpu")
def test_garbage_parses_or_raises_workload_error(value: Any, place: str) -> None:
    """A wrong value anywhere is accepted as legal or refused by one error of ours, never anything else."""
    profile: Any = PROFILES["work"] | ({place: value} if place in PROFILES["work"] else {})
    job: Any = {"id": 1, "subtime": 0, "res": 1, "profile": "p"} | ({place: value} if place in ("id", "res") else {})
    content: Any = {"nb_res": 4, "jobs": [value if place == "job" else job]}
    content["profiles"] = {"p": value if place == "profile" else profile}
    content |= {place: value} if place in content else {}
    text = _digits(value if place == "top" else content)
    try:
        workload = parse_batsim(text)
    except WorkloadError:
        return
    assert parse_batsim(format_batsim(workload)) == workload


@given(st.one_of(st.text(max_size=60), st.binary(max_size=60)))
@example("[" * 100_000)
@example('{"nb_res": 1, "jobs": [], "profiles": {}, "x": ' + "[" * 900 + "]" * 900 + "}")
def test_any_text_parses_or_raises_workload_error(text: str | bytes) -> None:
    """The same for texts that are no JSON at all, or absurdly deep."""
    try:
        workload = parse_batsim(text)
    except WorkloadError:
        return
    assert workload.nb_res > 0


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_file_has_its_message(name: str) -> None:
    """Each malformed file has one message, with file and place."""
    path = DATA / "workloads" / "malformed" / f"{name}.json"
    with pytest.raises(WorkloadError) as caught:
        read_batsim(path)
    assert str(caught.value) == f"{path}:{MALFORMED[name].replace('{folder}', str(path.parent))}"


def test_every_malformed_file_is_expected() -> None:
    """No file of the folder is without its message here."""
    assert {path.stem for path in (DATA / "workloads" / "malformed").iterdir()} == set(MALFORMED)


@pytest.mark.parametrize(("id_", "profile", "more", "words"), [
    ("a" * 253, "delay", "", "'id' must be a whole number, or a text that is not empty, has at most 252 bytes"),
    ("ü" * 127, "delay", "", "has at most 252 bytes"),
    ("jobid", "delay", ', "user": "\\ud800"', "has half a character (\\ud800 without its other half)"),
    ("jobid", "msg_par_hg", "", "got 'msg_par_hg' (older Batsim: it is called parallel_homogeneous now)"),
])  # fmt: skip
def test_runs_that_would_fail_are_refused_before(id_: str, profile: str, more: str, words: str) -> None:
    """They were failed runs: by the scheduler's limit, and by a fault of the core."""
    job = f'{{"id": "{id_}", "subtime": 0, "res": 1, "profile": "p"{more}}}'
    text = f'{{"nb_res": 4, "jobs": [{job}], "profiles": {{"p": {{"type": "{profile}", "delay": 1}}}}}}'
    with pytest.raises(WorkloadError) as caught:
        parse_batsim(text)
    assert words in str(caught.value)
    good = text.replace(id_, "ü" * 126).replace("\\ud800", "\\ud83d\\ude00").replace("msg_par_hg", "delay")
    assert len(parse_batsim("\ufeff".encode() + good.encode()).jobs) == 1


def test_layout_is_one_line_per_job(tmp_path: Path) -> None:
    """The file is readable and comparable line by line; a missing walltime is not written."""
    workload = Workload(
        "w", 4, (WorkloadJob(1, 0, 2, "wait", 5), WorkloadJob("b", 1.5, 1, "wait")), {"wait": PROFILES["wait"]}
    )
    write_batsim(workload, tmp_path / "w.json")
    assert (tmp_path / "w.json").read_text().splitlines() == [
        "{",
        '"name": "w",',
        '"description": "",',
        '"nb_res": 4,',
        '"jobs": [',
        '{"id": 1, "subtime": 0, "walltime": 5, "res": 2, "profile": "wait"},',
        '{"id": "b", "subtime": 1.5, "res": 1, "profile": "wait"}',
        "],",
        '"profiles": {',
        '"wait": {"type": "delay", "delay": 0.5, "ret": 3}',
        "}",
        "}",
    ]


def test_checksum_covers_content_only() -> None:
    """Name, description and layout do not change the checksum; jobs, profiles and nb_res do."""
    one = Workload("w", 4, (WorkloadJob(1, 0, 2, "wait", 5),), {"wait": PROFILES["wait"]})
    text = json.dumps(json.loads(format_batsim(one)), indent=3, sort_keys=True)
    other = parse_batsim(text.replace('"name": "w"', '"name": "v"'))
    assert other.checksum == one.checksum
    assert parse_batsim(text.replace('"nb_res": 4', '"nb_res": 5')).checksum != one.checksum
    assert parse_batsim(text.replace('"walltime": 5', '"walltime": 6')).checksum != one.checksum


def test_walltime_minus_one_means_none() -> None:
    """Batsim's -1 is no limit."""
    job = {"id": 1, "subtime": 0, "walltime": -1, "res": 1, "profile": "wait"}
    text = json.dumps({"nb_res": 1, "jobs": [job], "profiles": {"wait": PROFILES["wait"]}})
    assert parse_batsim(text).jobs[0].walltime is None


def test_name_falls_back_to_the_file(tmp_path: Path) -> None:
    """A file without a name is called after itself, compression and all suffixes removed."""
    write_batsim(Workload("", 1, (), {}), tmp_path / "night.json.xz")
    assert read_batsim(tmp_path / "night.json.xz").name == "night"


@pytest.mark.reference
@pytest.mark.parametrize("model", ["alloc-only", "io-aware"])
def test_published_workloads_survive(reference: Path, model: str) -> None:
    """The thesis's full workloads are read and written without loss."""
    workload = read_batsim(reference / "data" / "kth" / f"KTH-SP2-1996-2.1-cln-{model}-from-parts.json.xz")
    assert len(workload.jobs) == 28467
    assert parse_batsim(format_batsim(workload)) == workload


def _digits(value: Any) -> str:
    """JSON text even for numbers that Python does not like to print."""
    import sys

    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return json.dumps(value)
    finally:
        sys.set_int_max_str_digits(limit)


NUMBERS = (0, 1, 1.0, -1, -1.0, -0.0, 0.5, 2**31, 2**33, 2**33 + 1, 2**63, -(2**63), 10**400, 1e300)
TEXTS = ("", "a", "a!b", "1", "a\n", "parallel", "delay", "recv", "parallel_homogeneous")
VALUES = (None, True, *NUMBERS, *TEXTS, [], [1], {}, {"a": 1}, {"type": "delay"})
"""Values of members that are plain, unusual or faulty."""

MEMBERS = st.dictionaries(
    st.sampled_from(
        ["id", "subtime", "res", "profile", "walltime", "bb", "user", "type", "delay", "cpu", "com", "ret"]
    ),
    st.sampled_from(VALUES),
    max_size=3,
)


@given(MEMBERS, MEMBERS, st.booleans())
@example({"subtime": 1.0, "walltime": -1, "user": 1.0}, {}, False)
def test_whole_files_are_accepted_at_once_as_member_by_member(
    job: dict[str, Any], profile: dict[str, Any], indented: bool
) -> None:
    """Types accept what the checks of members accept, with the same result."""
    given_job = {"id": 7, "subtime": 3, "walltime": 10, "res": 1, "profile": "p", **job}
    profiles = {
        "p": {"type": "parallel_homogeneous", "cpu": 5, "com": 0, **profile},
        "a": {"type": "delay", "delay": 1},
    }
    other = {"id": "other", "subtime": 0.5, "res": 2, "profile": "a"}
    top = {"nb_res": 4, "jobs": [other, given_job], "profiles": profiles}
    text = json.dumps(top, indent=1 if indented else None)
    told = _told(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_file, "plain_json", lambda data: None)
        patch.setattr(json_file, "are_plain", lambda profiles: False)
        patch.setattr(json_file, "_plain_jobs", lambda jobs, profiles: None)
        assert _told(text) == told


def _told(text: str) -> str:
    """The text of what was read, or of the error."""
    try:
        return format_batsim(parse_batsim(text))
    except WorkloadError as error:
        return f"error: {error}"
