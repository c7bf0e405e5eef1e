"""The KTH-like generator: same seed same log, exact load, statistics near the real log's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.workloads import SwfLog, WorkloadError, load_workload
from spillway.workloads.draws import Draws
from spillway.workloads.logs.tables import parse_swf
from spillway.workloads.models.synthetic import GENERATORS, KthLike, generator, kth_like
from spillway.workloads.models.synthetic.arrivals import session_lengths, weekly_times
from spillway.workloads.swf import format_swf


@given(st.integers(1, 300), st.integers(0, 10**6), st.floats(0.05, 3.0), st.integers(1, 200))
@settings(max_examples=40)
def test_every_log_is_sound(jobs: int, seed: int, load: float, nodes: int) -> None:
    """Any options give a log that the reader accepts, of the right length, sorted, within the machine, repeatable."""
    log = kth_like(jobs=jobs, seed=seed, load=load, nodes=nodes)
    assert parse_swf(format_swf(log)) == log
    assert [record.number for record in log.records] == list(range(1, jobs + 1))
    submit = [record.submit_s for record in log.records]
    assert submit == sorted(submit)
    assert all(record.run_s >= 1 and 1 <= record.requested_processors <= nodes for record in log.records)
    held = sum(min(r.run_s, r.requested_s) * r.requested_processors for r in log.records)
    assert submit[-1] <= max(held / (nodes * load), 1.0)
    assert log == kth_like(jobs=jobs, seed=seed, load=load, nodes=nodes)


def test_seeds_differ() -> None:
    """Another seed is another log."""
    assert kth_like(50, seed=1) != kth_like(50, seed=2)


def test_known_bytes() -> None:
    """The log of a seed is the same as when this was written."""
    assert load_workload("kth-like:jobs=200,seed=5").checksum == KNOWN


KNOWN = "842f4811e64205ff5c33c79633e41ab53eae6b989c521c487272bc23fe316860"


@pytest.mark.parametrize("seed", range(3))
def test_statistics_are_near_the_real_log(seed: int) -> None:
    """Figures of a long log, with the KTH SP2 log's own in comments (jobs of at most 96 nodes)."""
    log = kth_like(jobs=28_000, seed=seed)
    figures = _figures(log)
    assert figures["load"] == pytest.approx(0.72, abs=0.005)  # 0.7236
    assert figures["nodes"] == pytest.approx(7.65, abs=0.8)  # 7.61 (7.65 with the 14 larger jobs)
    assert figures["runtime"] == pytest.approx(8876, rel=0.15)  # 8,876 s
    assert figures["requested"] == pytest.approx(13666, rel=0.1)  # 13,666 s
    assert figures["used"] == pytest.approx(0.413, abs=0.05)  # median share of the requested time
    assert figures["gap_cv"] == pytest.approx(3.3, abs=1.9)  # coefficient of variation of times between submissions
    assert figures["burst"] == pytest.approx(8.7, abs=3.5)  # index of dispersion of hourly counts
    assert figures["office"] == pytest.approx(0.78, abs=0.08)  # share between 8:00 and 20:00
    assert figures["killed"] == pytest.approx(0.018, abs=0.015)  # at or beyond the requested time


@pytest.mark.reference
def test_the_real_log_has_the_stated_figures(kth: SwfLog) -> None:
    """The comments above are measured."""
    records = tuple(r for r in kth.records if r.run_s > 0 and 0 < r.requested_processors <= 96)
    figures = _figures(SwfLog(kth.header, records))
    expected = {"load": 0.7236, "nodes": 7.606, "runtime": 8876, "requested": 13666, "used": 0.4133}
    assert {key: figures[key] for key in expected} == pytest.approx(expected, rel=2e-3)
    assert figures["gap_cv"] == pytest.approx(3.3, abs=0.05)
    assert figures["burst"] == pytest.approx(8.7, abs=0.05)


def test_weekly_cycle() -> None:
    """Nights and weekends are quiet; all times are in the span, for any length of it."""
    position = Draws(1, "x").uniform(50_000)
    times = weekly_times(position, 28 * 86400.0)
    hour, day = (times // 3600) % 24, (times // 86400) % 7
    assert np.mean((hour >= 8) & (hour < 20)) > 0.75
    assert np.mean(day >= 5) < 0.2
    for span in (1.0, 3599.5, 3600.0, 100_000.25):
        short = weekly_times(position, span)
        assert short.min() >= 0.0
        assert short.max() < span


@given(st.integers(1, 2000), st.floats(1.1, 5.0), st.integers(1, 100))
def test_sessions_add_up(jobs: int, exponent: float, longest: int) -> None:
    """Sessions have at least one job and together exactly the requested number."""
    lengths = session_lengths(Draws(0, "s"), jobs, exponent, longest)
    assert lengths.sum() == jobs
    assert lengths.min() >= 1
    assert lengths.max() <= longest


def test_generator_by_name() -> None:
    """Options are read from the text; the table is the only registration."""
    assert generator("kth-like:jobs=7,load=0.5") == KthLike(jobs=7, load=0.5)
    assert set(GENERATORS) == {"kth-like", "lublin"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("moon:jobs=3", "unknown generator 'moon'; known: kth-like, lublin"),
        ("kth-like:job=3", "generator 'kth-like': unknown option 'job'; known options: jobs, seed, load, nodes, "
         "session_exponent, session_longest, gap_median_s, feedback; did you mean 'jobs'?"),
        ("kth-like:jobs=x", "generator 'kth-like': option 'jobs' must be a whole number from 1 to 10000000, got 'x'"),
        ("kth-like:load=-1", "generator 'kth-like': option 'load' must be a number from 0.001 to 1000, got '-1'"),
        ("kth-like:load=nan", "generator 'kth-like': option 'load' must be a number from 0.001 to 1000, got 'nan'"),
    ],
)  # fmt: skip
def test_wrong_names_and_options(text: str, message: str) -> None:
    """Each mistake has its message."""
    with pytest.raises(WorkloadError) as caught:
        generator(text)
    assert str(caught.value) == message


def _figures(log: SwfLog) -> dict[str, float]:
    table = np.array([(r.submit_s, r.run_s, r.requested_processors, r.requested_s) for r in log.records], dtype=float)
    submit, run, nodes, requested = table.T
    gaps = np.diff(submit)
    start = log.header.unix_start_time or 0
    hour = (submit + start + (7200 if start > 10**8 else 0)) // 3600 % 24
    counts = np.bincount(((submit - submit[0]) // 3600).astype(int))
    return {
        "load": float((np.minimum(run, requested) * nodes).sum() / 96 / (submit[-1] - submit[0])),
        "nodes": float(nodes.mean()),
        "runtime": float(run.mean()),
        "requested": float(requested.mean()),
        "used": float(np.median(run / requested)),
        "gap_cv": float(gaps.std() / gaps.mean()),
        "burst": float(counts.var() / counts.mean()),
        "office": float(((hour >= 8) & (hour < 20)).mean()),
        "killed": float((run >= requested).mean()),
    }
