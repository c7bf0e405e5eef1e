"""The table of profiles' fields: the reader of workload files and the simulator take and refuse the same."""

from typing import Any

import pytest

from spillway.core import PLAIN_PROFILES
from spillway.protocol.profiles import PROFILE_FIELDS, PartsFault, parts_first, refuse_large
from spillway.simulator.jobs.profiles import READERS, read_profile
from spillway.workloads import WorkloadError
from spillway.workloads.batsim.profiles import check_profile

GOOD: dict[str, dict[str, Any]] = {
    "composed": {"seq": ["a"], "repeat": 2},
    "data_staging": {"nb_bytes": 1, "from": "a", "to": "b"},
    "delay": {"delay": 1.5},
    "io_stream": {"cpu": 1, "io_bytes": 2, "storage": "s"},
    "parallel": {"cpu": [1], "com": [0]},
    "parallel_homogeneous": {"cpu": 1, "com": 0},
    "parallel_homogeneous_pfs": {"bytes_to_read": 1, "bytes_to_write": 2, "storage": "s", "host": "h"},
    "parallel_homogeneous_total": {"cpu": 1, "com": 0},
    "recv": {"regex": "a+", "success": "s", "failure": "f", "timeout": "t", "polltime": 1},
    "send": {"msg": {}, "sleeptime": 1},
}
VALUES = [None, True, 0, -1, 1.5, 2e13, "", "(", "x", [], [1], [-1], ["x"], {}, 10**400]


@pytest.mark.parametrize("kind", GOOD)
def test_workload_files_and_the_simulator_take_the_same(kind: str) -> None:
    """Each field left out, and with each of many values: both take it, or both refuse it."""
    changes = [(name, value) for name in GOOD[kind] for value in [..., *VALUES]]
    for name, value in changes:
        members = {key: item for key, item in (GOOD[kind] | {name: value}).items() if item is not ...}
        profile = {"type": kind} | members
        assert _takes(check_profile, profile, "$") == _takes(lambda it, _: read_profile("p", it), profile, "$"), profile


def _takes(check: Any, profile: dict[str, Any], where: str) -> bool:
    try:
        check(profile, where)
    except ValueError:
        return False
    return True


def test_every_type_has_fields_and_a_reader() -> None:
    """The simulator reads every type of the table except SMPI's traces."""
    assert set(PROFILE_FIELDS) == {*READERS, *PLAIN_PROFILES, "smpi"} == set(GOOD) | {"smpi", "usage_trace"}


@pytest.mark.parametrize(("profile", "text"), [
    ({"type": "delay", "delay": 2e13}, r"\$\.p\.delay: 'delay' .* in microseconds"),
    ({"type": "recv", "regex": "("}, r"\$\.p\.regex: 'regex' must be a regular expression"),
    ({"type": "parallel", "cpu": [1, "x"], "com": [0] * 4}, r"\$\.p\.cpu\[1\]: .* must be a number, got 'x'"),
])  # fmt: skip
def test_faults_that_only_the_simulator_found_are_located_in_workload_files(profile: Any, text: str) -> None:
    """A workload that was read and then could not be played is refused when it is read."""
    with pytest.raises(WorkloadError, match=text):
        check_profile(profile, "$.p")


def test_parts_come_first_and_faults_name_the_profile() -> None:
    """The order, a missing part, a circle, and a sequence that unfolds to too many parts."""
    assert list(parts_first({"a": ["b", "c"], "b": ["c"], "c": ()})) == ["c", "b", "a"]
    for parts, name, other in (({"a": ["b"]}, "a", "b"), ({"a": ["b"], "b": ["a"]}, "a", "a")):
        with pytest.raises(PartsFault) as caught:
            list(parts_first(parts))
        assert (caught.value.name, caught.value.other) == (name, other)
    with pytest.raises(PartsFault, match="profile 'a' unfolds to"):
        refuse_large(["b", "a"], {"a": ["b", "b"]}, {"a": 10**8})
