"""Fetching public logs: from a server on the loopback address, from a file, from the cache; checksums; no network."""

import gzip
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from spillway.workloads import WorkloadError, load_workload, read_swf
from spillway.workloads.catalogue import CATALOGUE, acknowledgement, cache_folder, checksum, fetch

NAME = "CTC-SP2-1996-3.1-cln"  # its checksum is not known in advance
KNOWN = "KTH-SP2-1996-2.1-cln"
TEXT = b"; Version: 2.2\n; Acknowledge: A. Person\n1 0 -1 60 2 -1 -1 2 600 -1 1 1 1 -1 -1 -1 -1 -1\n"


class _Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without writing about it."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[str]:
    """Address of a little archive with one log."""
    folder = tmp_path / "served" / CATALOGUE[NAME].folder
    folder.mkdir(parents=True)
    (folder / f"{NAME}.swf.gz").write_bytes(gzip.compress(TEXT))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path / "served")))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_download_is_trusted_on_first_use_and_then_checked(archive: str, tmp_path: Path) -> None:
    """The first text is recorded; the cache serves it afterwards; another text under the same name is refused."""
    cache = tmp_path / "cache"
    first = fetch(NAME, cache=cache, archive=archive)
    assert first.sha256 == checksum(TEXT)
    assert first.how.endswith("trusted on first use and recorded")
    assert len(read_swf(first.path).records) == 1
    assert fetch(NAME, cache=cache, archive="http://127.0.0.1:1").how == "from the cache, checksum as on first use"
    first.path.unlink()
    served = tmp_path / "served" / CATALOGUE[NAME].folder / f"{NAME}.swf.gz"
    served.write_bytes(gzip.compress(TEXT.replace(b"60", b"61")))
    with pytest.raises(WorkloadError, match=f"should have the sha256 {first.sha256}, this one has .*--accept-any"):
        fetch(NAME, cache=cache, archive=archive)
    assert fetch(NAME, cache=cache, archive=archive, accept_any=True).sha256 != first.sha256


def test_checksum_covers_the_decompressed_text(tmp_path: Path) -> None:
    """A copy packed otherwise is the same log."""
    plain, packed = tmp_path / "a.swf", tmp_path / "a.swf.gz"
    plain.write_bytes(TEXT)
    packed.write_bytes(gzip.compress(TEXT, compresslevel=1))
    sums = {fetch(NAME, from_file=path, cache=tmp_path / "cache").sha256 for path in (plain, packed)}
    assert sums == {checksum(TEXT)}


def test_known_checksums_are_enforced(tmp_path: Path) -> None:
    """Another text under a name with a known checksum is refused, and nothing is kept."""
    path = tmp_path / "a.swf"
    path.write_bytes(TEXT)
    with pytest.raises(WorkloadError, match=f"the text of {KNOWN} should have the sha256 fba36494"):
        fetch(KNOWN, from_file=path, cache=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_damaged_cache_is_noticed(tmp_path: Path) -> None:
    """A cached file that changed is not used."""
    path = tmp_path / "a.swf"
    path.write_bytes(TEXT)
    fetched = fetch(NAME, from_file=path, cache=tmp_path / "cache")
    fetched.path.write_bytes(gzip.compress(TEXT + TEXT))
    with pytest.raises(WorkloadError, match="delete the file and fetch it again"):
        fetch(NAME, cache=tmp_path / "cache")


def test_without_network_the_message_says_what_to_do(tmp_path: Path) -> None:
    """An unreachable archive is one line with address and remedy."""
    with pytest.raises(WorkloadError) as caught:
        fetch(NAME, cache=tmp_path, archive="http://127.0.0.1:1")
    assert str(caught.value) == (
        f"http://127.0.0.1:1/l_ctc_sp2/{NAME}.swf.gz: cannot reach the archive: [Errno 111] Connection refused; "
        f"without network, bring the file {NAME}.swf.gz here by other means and run: "
        f"spillway workload fetch {NAME} --from FILE"
    )


def test_server_errors_and_wrong_addresses(archive: str, tmp_path: Path) -> None:
    """A missing file, a wrong address, an unknown name, a text that is no log: one message each."""
    with pytest.raises(WorkloadError, match="the archive answers 404 File not found"):
        fetch("RICC-2010-2", cache=tmp_path, archive=archive)
    with pytest.raises(WorkloadError, match="must begin with http:// or https://"):
        fetch(NAME, cache=tmp_path, archive="file:///etc")
    with pytest.raises(WorkloadError, match="unknown public log 'KTH'; known: ANL-Intrepid-2009-1, "):
        fetch("KTH", cache=tmp_path)
    (tmp_path / "page.swf").write_text("<html>moved</html>\n")
    with pytest.raises(WorkloadError, match=r"page\.swf:1: expected 18 fields"):
        fetch(NAME, from_file=tmp_path / "page.swf", cache=tmp_path / "cache")


def test_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """XDG_CACHE_HOME decides; a relative one is ignored, as its definition demands."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "spillway" / "logs"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == Path.home() / ".cache" / "spillway" / "logs"


def test_catalogue_names_load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cached public log is a workload by its name."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "a.swf").write_bytes(TEXT)
    fetch(NAME, from_file=tmp_path / "a.swf")
    workload = load_workload(NAME)
    assert (workload.name, len(workload.jobs)) == (NAME, 1)


def test_acknowledgement_names_archive_paper_and_people() -> None:
    """The archive's request is printed, with the people named in the log itself."""
    text = acknowledgement("X", ["A. Person"])
    assert "Parallel Workloads Archive" in text
    assert "J. Parallel Distrib. Comput. 74(10), 2014" in text
    assert "X was collected and provided by A. Person" in text
    assert "collected" not in acknowledgement("X", [])


def test_catalogue_is_well_formed() -> None:
    """Addresses are the archive's, checksums are whole."""
    for name, log in CATALOGUE.items():
        assert log.address().startswith("https://www.cs.huji.ac.il/labs/parallel/workload/l_")
        assert log.address().endswith(f"/{name}.swf.gz")
        assert len(log.sha256) in (0, 64)


@pytest.mark.reference
@pytest.mark.parametrize("name", ["kth/KTH-SP2-1996-2.1-cln", "swf/LLNL-Atlas-2006-2.1-cln", "swf/NASA-iPSC-1993-3"])
def test_reference_logs_have_the_known_checksums(reference: Path, tmp_path: Path, name: str) -> None:
    """The reference copies are accepted under their names."""
    fetched = fetch(name.split("/")[1], from_file=reference / "data" / f"{name}.swf.xz", cache=tmp_path)
    assert fetched.how.endswith("equals the known one")
