"""Other logs: options, load, periods."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.errors import SpecError
from experiments.thesis.holdout import Holdout, offered_load, parse_holdout, prepare_holdout
from experiments.thesis.models import Model
from workloads import load_log, read_batsim

SOURCE = "kth-like:jobs=1200"


def test_options() -> None:
    """Own options and those of the conversion, each of its type."""
    found = parse_holdout([SOURCE, "parts=4", "load=0.7", "max-records=500", "kappa=20", "oversized=drop"])
    assert found == Holdout(
        source=SOURCE,
        name="kth-like",
        parts=4,
        load=0.7,
        convert={"max_records": 500, "kappa": 20.0, "oversized": "drop"},
    )


@pytest.mark.parametrize("word", ["colour=red", "parts=many"])
def test_wrong_options(word: str) -> None:
    """Unknown keys and malformed values are named."""
    with pytest.raises(SpecError, match=word.partition("=")[0]):
        parse_holdout([SOURCE, word])


def test_periods_and_load(tmp_path: Path) -> None:
    """The log is cut into equal periods, after its arrivals were stretched to the load that was requested."""
    specs, platform = prepare_holdout(parse_holdout([SOURCE, "parts=3", "load=0.5"]), Model.IO, tmp_path)
    assert platform.source == "thesis"
    assert [spec.name for spec in specs] == ["kth-like-0", "kth-like-1", "kth-like-2"]
    parts = [read_batsim(spec.source) for spec in specs]
    assert sum(len(part.jobs) for part in parts) == 1200
    last = max(job.subtime for part in parts for job in part.jobs)
    log = load_log(f"{SOURCE},seed=42")[0]
    length = log.records[-1].submit_s - log.records[0].submit_s
    assert last * 3 == pytest.approx(length * offered_load(log, 96, 1) / 0.5, rel=0.05)


def test_too_many_periods(tmp_path: Path) -> None:
    """Periods in which nothing can wait are left out; where none is left, that is an error."""
    with pytest.raises(SpecError, match="no period has 100 jobs"):
        prepare_holdout(parse_holdout([SOURCE, "parts=600"]), Model.ALLOC, tmp_path)
