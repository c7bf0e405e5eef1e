"""Plays the jobs of a finished run in AccaSim under its EASY backfilling; run by the Python that has AccaSim installed.

``python tools/benchmarks/accasim_play.py JOBS.csv NODES FOLDER``

AccaSim 1.1.3 imports ``Mapping`` from ``collections``, which lacks it since Python 3.10: one line restores it. It has
no burst buffers and no places: of a job its submission, nodes, requested and execution time are played.
"""

from __future__ import annotations

import collections
import collections.abc
import csv
import json
import sys
from pathlib import Path


def write_swf(table: Path, swf: Path) -> None:
    """Write the jobs of a run that were executed as SWF, in whole seconds."""
    with table.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if float(row["execution_time"] or 0) > 0]
    rows.sort(key=lambda row: float(row["submission_time"]))
    lines = []
    for number, row in enumerate(rows, 1):
        nodes, run_s = row["requested_number_of_resources"], max(1, round(float(row["execution_time"])))
        requested_s = max(run_s, round(float(row["requested_time"])))
        fields = [number, round(float(row["submission_time"])), -1, run_s, nodes, -1, -1, nodes, requested_s]
        lines.append(" ".join(map(str, [*fields, -1, 1, 1, 1, 1, 1, 1, -1, -1])))
    swf.write_text("\n".join(lines) + "\n")


def main() -> None:
    """Play the table of jobs."""
    table, nodes, folder = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    swf, system = folder / "log.swf", folder / "system.json"
    write_swf(table, swf)
    machine = {"groups": {"node": {"core": 1}}, "resources": {"node": nodes}}
    system.write_text(json.dumps(machine | {"equivalence": {"processor": {"core": 1}}}))
    collections.Mapping = collections.abc.Mapping  # type: ignore[attr-defined]
    from accasim.base.allocator_class import FirstFit
    from accasim.base.scheduler_class import EASYBackfilling
    from accasim.base.simulator_class import Simulator

    simulator = Simulator(
        str(swf), str(system), EASYBackfilling(FirstFit()), RESULTS_FOLDER_PATH=str(folder),
        statistics_output=False, show_statistics=False,
    )  # fmt: skip
    simulator.start_simulation()


if __name__ == "__main__":
    main()
