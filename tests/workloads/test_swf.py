"""Standard Workload Format: written logs are read as they were, and every fault has its one message."""

import gzip
import lzma
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spillway.workloads import SwfLog, SwfRecord, WorkloadError, read_swf, write_swf
from spillway.workloads.logs.formats import read_log
from spillway.workloads.logs.lines import LogFile
from spillway.workloads.logs.tables import parse_swf
from spillway.workloads.swf import FIELDS, SwfHeader, format_swf
from tests.kit.cases import cases
from tests.workloads.conftest import DATA

MALFORMED = dict(cases("swf-malformed"))

whole = st.integers(-1, 10**12)
time_s = st.integers(-1, 2**33)
amount = st.one_of(whole, st.floats(0, 1e18, allow_nan=False))
records = st.builds(
    SwfRecord,
    st.integers(0, 10**9),
    st.integers(0, 2**33),
    time_s, time_s, whole, amount, amount, whole, time_s, amount,
    st.integers(-1, 5),
    whole, whole, whole, whole, whole, whole, time_s,
)  # fmt: skip
comments = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=30).map(str.rstrip)
headers = st.lists(comments.map(lambda text: f" Note: {text}".rstrip()), max_size=5).map(
    lambda lines: SwfHeader(tuple(lines))
)


@given(st.builds(SwfLog, headers, st.lists(records, max_size=8).map(tuple)))
def test_round_trip(log: SwfLog) -> None:
    """A written log is read as the same log."""
    assert parse_swf(format_swf(log)) == log


@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(["1", "-1", "x", ";", "\n", "1.5", "9" * 400]))))
@example("9" * 5000 + " 1" * 17)
@example("; MaxNodes: 9999999999999999999999")
def test_garbage_parses_or_raises_workload_error(text: str | list[str]) -> None:
    """Any text is a log or one error of ours, never anything else."""
    try:
        log = parse_swf(text if isinstance(text, str) else " ".join(text))
    except WorkloadError:
        return
    assert isinstance(log, SwfLog)


@given(st.binary(max_size=100))
def test_garbage_bytes_parse_or_raise_workload_error(data: bytes) -> None:
    """The same for bytes of any encoding."""
    try:
        log = parse_swf(data)
    except WorkloadError:
        return
    assert isinstance(log, SwfLog)


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_file_has_its_message(name: str) -> None:
    """Each malformed file has one message, with file and line."""
    path = DATA / "swf" / "malformed" / name
    with pytest.raises(WorkloadError) as caught:
        read_swf(path)
    assert str(caught.value).startswith(f"{path}{MALFORMED[name]}")


def test_every_malformed_file_is_expected() -> None:
    """No file of the folder is without its message here."""
    assert {path.name for path in (DATA / "swf" / "malformed").iterdir()} == set(MALFORMED)


def test_header_directives(small_log: SwfLog) -> None:
    """Directives are read by name; numbers may be followed by a remark; repeated ones are all there."""
    header = small_log.header
    assert (header.max_nodes, header.max_procs, header.unix_start_time) == (4, 8, 843480031)
    assert header.values("note") == ["first", "second"]
    assert header.number("MaxQueues") is None
    assert SwfHeader((" MaxNodes: 16",)).max_procs == 16
    assert SwfHeader((" MaxProcs: -1",)).max_procs is None


def test_fields_keep_their_kind(small_log: SwfLog) -> None:
    """Whole numbers stay whole, fractions are kept in fields that have them."""
    first, second = small_log.records[:2]
    assert (first.cpu_s, first.requested_memory_kib, second.requested_memory_kib) == (47.25, 2048, 1024.5)
    assert [type(getattr(first, name)) for name in FIELDS].count(float) == 1
    assert len(small_log.records) == 8


@pytest.mark.parametrize("suffix", ["", ".xz", ".gz"])
def test_compression_follows_the_suffix(tmp_path: Path, small_log: SwfLog, suffix: str) -> None:
    """The same log comes back from plain, xz and gzip files, and equal content gives equal bytes."""
    path, again = tmp_path / f"a.swf{suffix}", tmp_path / f"b.swf{suffix}"
    write_swf(small_log, path)
    write_swf(small_log, again)
    assert read_swf(path) == small_log
    assert path.read_bytes() == again.read_bytes()
    unpack: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".xz": lzma.decompress, ".gz": gzip.decompress}
    plain = unpack[suffix](path.read_bytes())
    assert plain == format_swf(small_log).encode()


def test_latin_1_comments_are_read() -> None:
    """Old logs spell names in Latin-1."""
    assert parse_swf(b"; Installation: Ume\xe5\n").header.values("Installation") == ["Umeå"]


def test_missing_file_is_named(tmp_path: Path) -> None:
    """A missing file is one clear message."""
    with pytest.raises(WorkloadError, match=r"no\.swf: cannot be read: No such file or directory"):
        read_swf(tmp_path / "no.swf")


def test_failed_writing_leaves_nothing_behind(tmp_path: Path, small_log: SwfLog) -> None:
    """Writing into a missing folder is an error that says what to do; a taken name leaves no temporary file."""
    with pytest.raises(WorkloadError, match="name an existing folder"):
        write_swf(small_log, tmp_path / "no" / "a.swf")
    (tmp_path / "taken.swf").mkdir()
    with pytest.raises(WorkloadError, match="cannot write the file"):
        write_swf(small_log, tmp_path / "taken.swf")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.swf"]


def test_large_logs_are_read_quickly() -> None:
    """450,000 records take a few seconds."""
    line = "".join(f"{number} {number} 5 3600 4 -1 -1 4 7200 -1 1 3 1 -1 1 -1 -1 -1\n" for number in range(45_000))
    text = line * 10
    begin = time.process_time()
    log = parse_swf(text)
    assert len(log.records) == 450_000
    assert time.process_time() - begin < 10.0


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "count", "processors"),
    [
        ("kth/KTH-SP2-1996-2.1-cln", 28476, 100),
        ("swf/LLNL-Atlas-2006-2.1-cln", 43778, 9216),
        ("swf/NASA-iPSC-1993-3", 42264, 128),
        ("swf/lublin_256", 10000, 256),
    ],
)
def test_public_logs_are_read_whole(reference: Path, name: str, count: int, processors: int) -> None:
    """Every record of the reference logs is read, and survives writing."""
    log = read_swf(reference / "data" / f"{name}.swf.xz")
    assert len(log.records) == count
    assert log.header.max_procs == processors
    assert parse_swf(format_swf(log)) == log


@pytest.mark.parametrize("text", [str(2**62), "4.7e18", "1e19"])
def test_numbers_beyond_the_columns_of_a_table_are_refused_by_both_readers(tmp_path: Path, text: str) -> None:
    """A log in memory and a table of jobs are read by the same rules, with the same message."""
    (tmp_path / "huge.swf").write_text(f"; MaxProcs: 4\n1 0 5 10 1 -1 {text} 1 20 -1 1 3 1 -1 1 -1 -1 -1\n")
    for read in (read_swf, lambda path: read_log(LogFile.of(path))):
        with pytest.raises(WorkloadError, match=r"huge\.swf:2: field 7 \(used_memory_kib\) must be less than 2\^62"):
            read(tmp_path / "huge.swf")


def test_one_wrong_line_of_many_is_left_out(small_log: SwfLog) -> None:
    """By the same rule as in a table of jobs: more than a hundredth refuses the log."""
    good = format_swf(small_log).splitlines()[-1] + "\n"
    assert len(parse_swf(good * 100 + "1 2 3\n" + good * 100).records) == 200
    with pytest.raises(WorkloadError, match=r"<text>:3: expected 18 fields .* 1 line of 3 cannot be read"):
        parse_swf(good * 2 + "1 2 3\n")
