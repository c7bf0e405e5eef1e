"""Whole runs or no run after a failing disk or a kill at any write, sync or rename."""

import random
import re
from pathlib import Path

import pytest

from spillway.experiments.run.codehash import ROOT
from tools.faults import writes

OPENERS = re.compile(
    r"""\bopen\([^()]*["'][wax]b?\+?["']|\.write_text\(|\.write_bytes\(|savefig\(|\.rename\(|os\.replace\("""
)
ALLOWED = {
    "experiments/cli/__init__.py": "the null device, in place of an output that is closed",
    "experiments/slurm/live.py": "configuration of a real Slurm, in a temporary folder",
    "experiments/slurm/inside.py": "its output and states, in the same folder; what is kept is written by recording.py",
    "experiments/slurm/packages.py": "a folder of unpacked packages gets its name when it is complete",
    "experiments/run/memory.py": "the kernel's own file: it resets a counter",
    "simulator/engines/simgrid.py": "files for a child process, in a temporary folder",
    "simulator/outputs/files.py": "the probe whether a folder can be written",
}
"""Writers that need not outlive the process, with the reason."""


def test_a_bounded_sample(tmp_path: Path) -> None:
    """One of each kind, drawn with a fixed seed; the command does all of them."""
    start = tmp_path / "start"
    writes.begin(start)
    calls = writes.count_calls(start, tmp_path)
    assert all(count >= 20 for count in calls.values()), calls
    cases = list(writes.cases(calls, 20))
    kinds = dict.fromkeys((case.call, case.fault) for case in cases)
    draw = random.Random(17)
    for kind in kinds:
        case = draw.choice([case for case in cases if (case.call, case.fault) == kind])
        seen = writes.suffer(case, start, tmp_path / "whole", tmp_path)
        assert (seen.wrong, seen.lost) == ("", 0), seen


@pytest.mark.parametrize("package", ["experiments", "simulator", "analysis"])
def test_one_law_of_writing(package: str) -> None:
    """Results reach the disk through ``base/durable.py`` only."""
    found = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        calls = [line.strip() for line in path.read_text().splitlines() if OPENERS.search(line)]
        own = [line for line in calls if not re.search(r"\b(durable|folders)\.|BytesIO|savefig\(drawn", line)]
        if own and name not in ALLOWED:
            found[name] = own
    assert found == {}
