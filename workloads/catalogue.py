"""Public logs by name: their addresses, checksums, cache and acknowledgements.

The logs belong to the Parallel Workloads Archive and those who collected them; the project does not distribute them. A
log is fetched once into the cache (``$XDG_CACHE_HOME/spillway/logs``, by default ``~/.cache/spillway/logs``). Its
checksum is the sha256 of the *decompressed* text, whatever the compression. A text with another checksum than the
catalogue's is refused. Where the catalogue has no checksum, the first text is trusted, its checksum is recorded beside
it, and any other text is refused later.

References
----------
D. G. Feitelson, D. Tsafrir, D. Krakov, *Experience with using the Parallel Workloads Archive*, Journal of Parallel and
Distributed Computing 74 (2014), 2967-2982, doi 10.1016/j.jpdc.2014.06.013.
"""

from __future__ import annotations

import csv
import hashlib
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from spillway.base.near import near
from spillway.workloads.errors import WorkloadError
from spillway.workloads.files import decompress, read_bytes, write_bytes
from spillway.workloads.logs.tables import parse_swf

ARCHIVE = "https://www.cs.huji.ac.il/labs/parallel/workload"
_TIMEOUT_S = 60.0
_LARGEST_BYTES = 2 * 2**30


@dataclass(frozen=True, slots=True)
class _PublicLog:
    """A log of the archive.

    Attributes
    ----------
    name
        File name without suffix.
    folder
        The archive's folder of this machine.
    machine
        The machine and the years of the log.
    sha256
        Checksum of the decompressed text; "" where it is not known in advance.
    """

    name: str
    folder: str
    machine: str
    sha256: str = ""

    def address(self, archive: str = ARCHIVE) -> str:
        """Address of the compressed log."""
        return f"{archive.rstrip('/')}/{self.folder}/{self.name}.swf.gz"


@dataclass(frozen=True, slots=True)
class _CachedLog:
    """A log in the cache.

    Attributes
    ----------
    path
        The file (``.swf.gz``).
    sha256
        Checksum of its decompressed text.
    how
        Sentence about its source and the test of its checksum.
    """

    path: Path
    sha256: str
    how: str


with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as _table:
    CATALOGUE: dict[str, _PublicLog] = {row["name"]: _PublicLog(**row) for row in csv.DictReader(_table)}
"""Every log that can be fetched by name."""


def cache_folder() -> Path:
    """Folder of the fetched logs (it need not exist)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "spillway" / "logs"


def fetch(
    name: str,
    from_file: Path | None = None,
    cache: Path | None = None,
    archive: str = ARCHIVE,
    accept_any: bool = False,
) -> _CachedLog:
    """Fetch a public log into the cache, or take it from there.

    Parameters
    ----------
    name
        A name of :data:`CATALOGUE`.
    from_file
        A copy of the log (``.swf``, ``.swf.gz``, ``.swf.xz``) to take instead of the archive's; replaces a cached one.
    cache
        The cache folder; ``None``: :func:`cache_folder`.
    archive
        Address of the archive or of a mirror with the same folders.
    accept_any
        Take the text even if its checksum is not the known one, and record it as trusted.

    Raises
    ------
    WorkloadError
        For an unknown name, an unreachable archive, a text that is no log or has another checksum.
    """
    log = _known_log(name)
    folder = cache or cache_folder()
    path, record = folder / f"{name}.swf.gz", folder / f"{name}.sha256"
    expected = _recorded(record) or log.sha256
    if from_file is None and path.exists() and not accept_any:
        actual = checksum(read_bytes(path))
        if actual != expected:
            raise WorkloadError(
                f"the cached log has the checksum {actual}, expected {expected or 'a recorded one'}; "
                f"delete the file and fetch it again",
                str(path),
            )
        return _CachedLog(path, actual, f"from the cache, checksum {'known' if log.sha256 else 'as on first use'}")
    address = log.address(archive)
    text = read_bytes(from_file) if from_file else decompress(_download(log, address), Path(f"{name}.swf.gz"))
    origin = str(from_file or address)
    actual = checksum(text)
    if expected and actual != expected and not accept_any:
        raise WorkloadError(
            f"the text of {name} should have the sha256 {expected}, this one has {actual}; "
            f"to take it as another version, add --accept-any",
            origin,
        )
    parse_swf(text, origin)
    _make_folder(folder)
    write_bytes(path, text)
    write_bytes(record, f"{actual}\n".encode())
    trust = "equals the known one" if actual == log.sha256 else "trusted on first use and recorded"
    return _CachedLog(path, actual, f"from {origin}; sha256 of the decompressed text {trust}")


def _known_log(name: str) -> _PublicLog:
    """Catalogue entry by name; the error lists the known names."""
    if name not in CATALOGUE:
        raise WorkloadError(f"unknown public log {name!r}; known: {', '.join(CATALOGUE)}{near(name, CATALOGUE)}")
    return CATALOGUE[name]


def checksum(text: bytes) -> str:
    """sha256 of a log's decompressed text, hexadecimal."""
    return hashlib.sha256(text).hexdigest()


def acknowledgement(name: str, collected_by: list[str]) -> str:
    """Request of the archive to authors of results obtained with a log (``collected_by``: its own header)."""
    who = f" {name} was collected and provided by {'; '.join(collected_by)}: please thank them." if collected_by else ""
    return (
        "If you publish results obtained with this log, name the Parallel Workloads Archive "
        f"({ARCHIVE}) as its source and cite D. G. Feitelson, D. Tsafrir, D. Krakov, 'Experience with using the "
        f"Parallel Workloads Archive', J. Parallel Distrib. Comput. 74(10), 2014.{who}"
    )


def _download(log: _PublicLog, address: str) -> bytes:
    remedy = (
        f"without network, bring the file {PurePosixPath(address).name} here by other means "
        f"and run: spillway workload fetch {log.name} --from FILE"
    )
    if not address.startswith(("http://", "https://")):
        raise WorkloadError("the archive's address must begin with http:// or https://", address)
    request = urllib.request.Request(address, headers={"User-Agent": "spillway"})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as reply:
            data: bytes = reply.read(_LARGEST_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise WorkloadError(f"the archive answers {error.code} {error.reason}; {remedy}", address) from None
    except (OSError, ValueError) as error:  # URLError is an OSError, so are timeouts and broken connections
        reason = getattr(error, "reason", error)
        raise WorkloadError(f"cannot reach the archive: {reason}; {remedy}", address) from None
    if len(data) > _LARGEST_BYTES:
        raise WorkloadError(f"the archive sent more than {_LARGEST_BYTES} bytes; {remedy}", address)
    return data


def _recorded(record: Path) -> str:
    try:
        return record.read_text().strip()
    except OSError:
        return ""


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkloadError(
            f"cannot make the cache folder: {error.strerror}; set XDG_CACHE_HOME to a folder that you may write",
            str(folder),
        ) from None
