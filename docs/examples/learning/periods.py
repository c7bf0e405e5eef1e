"""Write the training data of the transfer study's agent: odd periods of KTH's log, with drawn burst buffers.

``python periods.py --out FOLDER`` writes ``machine.xml`` and a workload for each odd period and load
(``kth-1-0.75.json``). Even periods, which the study reports, are not read.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from spillway.experiments.campaign.inputs import machines
from spillway.experiments.run.spec import PlatformSpec
from spillway.experiments.studies.transfer.logs import CAPACITY_GB, LOGS, PERIODS, at_load, window
from spillway.workloads.batsim.json_file import write_batsim
from spillway.workloads.conversion.convert import ConvertOptions, convert
from spillway.workloads.swf import SwfHeader, SwfLog

JOBS = 3500
"""Jobs of a period; an eighth of the log has a few more."""

LOADS = (0.75, 0.9)


def main() -> None:
    """Write the machine and the workloads."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    folder: Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    nodes = LOGS["kth"].nodes
    machine = machines.load(PlatformSpec(source=f"nodes:{nodes},burst_buffer={CAPACITY_GB}GB"))
    (folder / "machine.xml").write_text(machine.xml, encoding="utf-8")
    for period in range(1, PERIODS, 2):
        for load in LOADS:
            records = at_load(window("kth", period, JOBS), load, nodes, 1)
            options = ConvertOptions(model="alloc", seed=100 + period, oversized="drop")
            jobs, _ = convert(SwfLog(SwfHeader(()), records), machine.facts, options, f"kth-{period}")
            write_batsim(jobs, folder / f"kth-{period}-{load:g}.json")


if __name__ == "__main__":
    main()
