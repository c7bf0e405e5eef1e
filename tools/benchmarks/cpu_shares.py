"""CPU time by part of the program: shares of the samples that py-spy took of a command and its workers.

``py-spy record --nonblocking --subprocesses -r 100 -f raw -o STACKS -- spillway run ...``, then
``python -m tools.benchmarks.cpu_shares STACKS [STACKS ...]`` (a column each)

py-spy is a program of its own, which a bare machine does not need (``pip install py-spy``). ``--nonblocking``: the
program is not stopped for a sample. A sample belongs to the innermost function of ours on its stack: the time of a
function of the core is its caller's.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

LOADING = "loading modules"
PARTS = (
    (LOADING, r"importlib\._bootstrap"),
    ("times without contention", r"experiments/uncontended"),
    ("plans: search and scoring", r"schedulers/(policykit/(planning|ordering)|policies/plan|search/)"),
    ("other policies and shared helpers", r"schedulers/(policies|policykit|timeline)/"),
    ("session, ledger, guard", r"schedulers/(core|controllers|wire|lives|assembly|estimat)"),
    ("job models and their runtime", r"schedulers/(jobmodels|applications|timesharing)/"),
    ("simulator: engine", r"simulator/engines/"),
    ("simulator: the rest", r"simulator/"),
    ("inputs: logs, machines", r"(workloads|platforms|inputs)/"),
    ("tables, summary, campaign", r"(experiments|analysis)/"),
)
"""Parts by a pattern of the files; the first that a stack matches, from its innermost function outwards."""


def shares(text: str) -> Counter[str]:
    """Samples by part.

    Parameters
    ----------
    text
        Lines of ``function (file:line);...;function (file:line) samples``, outermost function first.
    """
    found: Counter[str] = Counter()
    for line in text.splitlines():
        stack, _, samples = line.rpartition(" ")
        found[_part(stack.split(";"))] += int(samples)
    return found


def _part(frames: list[str]) -> str:
    if any(re.search(PARTS[0][1], frame) for frame in frames):
        return LOADING
    for frame in reversed(frames):
        for part, pattern in PARTS[1:]:
            if re.search(r"[(/]" + pattern, frame):
                return part
    return "other"


def main(paths: list[str]) -> None:
    """Print the table."""
    columns = [shares(Path(path).read_text()) for path in paths]
    print(f"{'':40}" + "".join(f"{Path(path).stem:>16}" for path in paths))
    for part in (*[part for part, _ in PARTS], "other"):
        if any(column[part] for column in columns):
            print(f"{part:40}" + "".join(f"{column[part] / column.total():>15.1%} " for column in columns))
    print(f"{'samples':40}" + "".join(f"{column.total():>16,}" for column in columns))


if __name__ == "__main__":
    main(sys.argv[1:])
