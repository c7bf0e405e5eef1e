"""The table of studies, studies from files, and the claims of all of them in one table."""

from __future__ import annotations

import argparse
import importlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from spillway.experiments.run.errors import SpecError

if TYPE_CHECKING:
    from spillway.experiments.studies.report import Line
    from spillway.experiments.studies.study import Study

STUDIES: Mapping[str, str] = {
    "thesis": "the evaluation of Kopański's thesis (2020), value by value, and its six conclusions",
    "jeannot": "I/O-aware lists and packs, exclusive I/O (Jeannot, Pallez, Vidal 2023)",
    "herbein": "I/O-aware scheduling on CTS-1 (Herbein et al. 2016)",
    "gang": "gang scheduling and files on nodes (Zhang et al. 2003)",
    "production-buffers": "idle time of nodes while burst buffers are staged, by the buffers' life",
    "transfer": "planning, backfilling and the field since 2019 on periods of logs not used to choose settings",
    "transfer-choosing": "the same on the other periods, used to choose settings, with ablations",
    "malleable": "I/O interference and malleability (Singh & Carretero 2019, sections 2, 5.1, 7)",
    "malleable-sharing": "idle nodes shared among four applications (the same, sections 5.2, 7)",
    "malleable-machine": "malleable jobs on a whole machine, 0 to 100 % of them (not in a paper)",
}
"""Subjects of the product's studies by name; each study is ``STUDY`` of the package
``spillway.experiments.studies.NAME``."""

_SECOND: Mapping[str, tuple[str, str]] = {
    "transfer-choosing": ("transfer", "CHOOSING"),
    "malleable-sharing": ("malleable", "SHARING"),
    "malleable-machine": ("malleable.machine", "STUDY"),
}
"""Studies that share the package of another."""

_ATTRIBUTE = "STUDY"
TABLE = "verdicts.csv"


def find_study(name: str) -> Study:
    """A study of the table, or ``FILE.py[:NAME]``.

    Raises
    ------
    SpecError, OptionError
        There is no such study, or the file cannot be loaded.
    """
    from spillway.base.plugins import module_from_file

    if name in STUDIES:
        package, attribute = _SECOND.get(name, (name.replace("-", "_"), _ATTRIBUTE))
        return _study(importlib.import_module(f"spillway.experiments.studies.{package}"), attribute, name)
    place, _, attribute = name.partition(".py:")
    path = Path(f"{place}.py" if attribute else name)
    return _study(module_from_file(path, "study"), attribute or _ATTRIBUTE, name)


def verdicts_of(options: argparse.Namespace) -> int:
    """Print and write one table of all claims; return exit code 1 if a kept result was changed."""
    from spillway.analysis.document.blocks import Table
    from spillway.analysis.document.terminal import say, show, terminal
    from spillway.analysis.document.text import to_csv
    from spillway.experiments.run.folders import write_text
    from spillway.experiments.studies import report
    from spillway.experiments.studies.verdicts import Verdict

    console, root = terminal(), Path(options.out)
    lines, changed = collect(root)
    if not lines and not changed:
        raise SpecError(f"no study's claims are below {str(root)!r}: run 'spillway study NAME' first, or name --out")
    found = Counter((line.study, line.verdict) for line in lines)
    studies = list(dict.fromkeys(line.study for line in lines))
    counts = [[found[study, verdict.value] for verdict in Verdict] for study in studies]
    counts.append([sum(column) for column in zip(*counts, strict=True)] if counts else [0] * len(Verdict))
    rows = [[name, *map(str, row), str(sum(row))] for name, row in zip([*studies, "all"], counts, strict=True)]
    table = Table(("study", *(verdict.value for verdict in Verdict), "claims"), rows)
    show(console, table, "Claims of all studies", ends=(len(rows) - 2,))
    columns = report.Line.__struct_fields__
    write_text(root / TABLE, to_csv(columns, [[getattr(line, name) for name in columns] for line in lines]))
    say(console, f"written: {root / TABLE}")
    for name in changed:
        say(console, f"{name}: no result, for it was changed after it was written; run the study again")
    return 1 if changed else 0


def collect(root: Path) -> tuple[list[Line], list[str]]:
    """Claims of all studies below a folder, in the order of the table, and files that were changed since."""
    from spillway.experiments.campaign.folder import reuse
    from spillway.experiments.studies import report

    lines: list[Line] = []
    changed: list[str] = []
    order = {name: place for place, name in enumerate(STUDIES)}
    folders = sorted(root.glob(f"*/{report.CLAIMS}"), key=lambda path: (order.get(path.parent.name, len(order)), path))
    for path in folders:
        if reuse.damage(path):
            changed.append(str(path))
        else:
            lines += reuse.read(path, list[report.Line])
    return lines, changed


def _study(module: object, attribute: str, name: str) -> Study:
    from spillway.experiments.studies.study import Study

    found = getattr(module, attribute, None)
    if not isinstance(found, Study):
        raise SpecError(f"study {name!r}: expected {attribute} = Study(...) there, found {type(found).__name__}")
    return found
