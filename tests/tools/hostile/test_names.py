"""Names that mean something to the printer of tables, to Matplotlib and to file systems are only names."""

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from spillway.analysis.plots.distributions import bars
from spillway.analysis.plots.style import plain, save
from spillway.analysis.tables.names import LONGEST, slug
from spillway.experiments.campaign.folder import summary

FORMULA = r"$\frac{$ _x_"


def test_a_formula_in_a_chart_is_text(tmp_path: Path) -> None:
    """Matplotlib refuses the formula that the name would be; as text it is drawn."""
    waits = [np.array([1.0, 2.0])]
    with pytest.raises(ValueError, match="frac"):
        save(bars({FORMULA: waits}, title=FORMULA), tmp_path / "raw")
    made = save(bars({plain(FORMULA): waits}, title=plain(FORMULA)), tmp_path / "plain")
    assert r"$\frac{$" in made[1].read_text(encoding="utf-8")


def test_markup_in_a_printed_table_is_text() -> None:
    """Rich takes words in brackets for colours, and a closing one without an opening one for an error."""
    names = {"workload": "[red]w", "platform": "[/bold]", "policy": "[/b] easy", "engine": "fluid", "model": "rigid"}
    numbers = dict.fromkeys((*summary.METRICS, *summary.TIMINGS), 1.0)
    rows = [names | numbers | {"seed": 0, summary.OTHER_CODE: 0, "run": "r"}]
    rows.append(rows[0] | {"workload": "[blue]v"})
    printed = io.StringIO()
    summary.print_tables(rows, Console(file=printed, width=200))
    assert all(name in printed.getvalue() for name in ("[red]w", "[/bold]", "[/b] easy", "[blue]v"))


def test_names_of_files_are_short_and_stay_different() -> None:
    """Two long names that begin alike have different files; no file name is longer than file systems take."""
    one, other = slug("x" * 5000), slug("x" * 4999)
    assert one != other
    assert len(one) == len(other) == LONGEST
    assert slug("../../tmp/x") == "tmp-x"
