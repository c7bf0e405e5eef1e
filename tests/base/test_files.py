"""Files from outside: regular ones only, unpacked as streams, within the limits."""

import bz2
import gzip
import io
import lzma
import os
import resource
import socket
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

from spillway.base import files
from spillway.base.files import members, parse_json, parse_toml, read_file, read_pieces, unpack
from spillway.base.limits import EXPANSION, FILE_BYTES, LIMITS, NAME, InputError, check_name


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress), ("", bytes)])
def test_reading_gives_the_content(tmp_path: Path, suffix: str, pack: type[bytes]) -> None:
    """Plain and packed files, also packed in several pieces one after the other."""
    path = tmp_path / f"log.swf{suffix}"
    path.write_bytes(pack(b"one ") + pack(b"two"))
    assert read_file(path) == b"one two"
    assert unpack(path.read_bytes(), suffix.upper()) == b"one two"


def bomb(suffix: str, size: int) -> bytes:
    """So many zeros, packed."""
    quickest: dict[str, Any] = {"preset": 0} if suffix == ".xz" else {}
    packers = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
    packed = io.BytesIO()
    with packers[suffix](packed, "wb", **quickest) as stream:  # type: ignore[operator]
        for _ in range(size >> 20):
            stream.write(bytes(1 << 20))
    return packed.getvalue()


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_bomb_ends_early(tmp_path: Path, suffix: str) -> None:
    """Unpacking 200 MB of zeros ends at 64 MB; memory use stays near that."""
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(bomb(suffix, 200 << 20))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match="unpacks to more than 100 times its size"):
        read_file(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000


def test_more_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain or packed; the variable that the error names moves the limit."""
    monkeypatch.setenv(FILE_BYTES.option, "1000")
    (tmp_path / "plain").write_bytes(bytes(1001))
    (tmp_path / "packed.gz").write_bytes(gzip.compress(os.urandom(1001)))
    for name in ("plain", "packed.gz"):
        with pytest.raises(InputError, match=r"more than 1,000 bytes; .* raise SPILLWAY_MAX_FILE_BYTES"):
            read_file(tmp_path / name)
    monkeypatch.setenv(FILE_BYTES.option, "1001")
    assert len(read_file(tmp_path / "plain")) == len(read_file(tmp_path / "packed.gz")) == 1001
    monkeypatch.setenv(FILE_BYTES.option, "many")
    with pytest.raises(InputError, match="must be a whole number above 0"):
        read_file(tmp_path / "plain")


def test_only_regular_files(tmp_path: Path) -> None:
    """Endless devices, pipes without a writer, sockets and folders are refused at once, each with its kind."""
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        kinds = {"/dev/zero": "a device", tmp_path / "pipe": "a pipe", tmp_path / "socket": "a socket"}
        for path, kind in (kinds | {tmp_path: "a folder", "/proc/self/mem\0": "no name of a file"}).items():
            with pytest.raises(InputError, match=kind):
                read_file(path)
    with pytest.raises(InputError, match="No such file"):
        read_file(tmp_path / "missing")


def test_a_bomb_is_refused_before_its_lines_are_read(tmp_path: Path) -> None:
    """Failed before: 14 CPU seconds of a log's lines passed first."""
    path = tmp_path / "bomb.swf.gz"
    path.write_bytes(bomb(".gz", 80 << 20))
    with pytest.raises(InputError, match="unpacks to more than 100 times its size"):
        next(read_pieces(path))
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match="Compressed file ended"):
        next(read_pieces(path))


def archive(path: Path, mode: str, contents: dict[str, bytes]) -> Path:
    """Write a tar archive."""
    quickest: dict[str, Any] = {"preset": 0} if mode == "w:xz" else {}
    with tarfile.open(path, mode, **quickest) as tar:  # type: ignore[call-overload]
        for name, data in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return path


@pytest.mark.parametrize("packing", ["", "gz", "xz", "bz2"])
def test_members(tmp_path: Path, packing: str) -> None:
    """Of a plain or packed archive, whatever its name; those that are not read are skipped."""
    path = archive(tmp_path / "a.data", f"w:{packing}", {"./a.json": b"{}", "b/c.swf": bytes(3000), "d": b"end"})
    found = {name: read() for name, read in members(path) if name != "b/c.swf"}
    assert found == {"a.json": b"{}", "d": b"end"}


def test_members_of_bombs_and_ruins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that unpacks without end, one that only claims a size, and half an archive."""
    whole = archive(tmp_path / "a.tar.xz", "w:xz", {"a": bytes(100 << 20), "b": b"1"})
    with pytest.raises(InputError, match="unpacks to more than 100 times its size"):
        list(members(whole))
    noise = archive(tmp_path / "n.tar.gz", "w:gz", {"a": os.urandom(1 << 20)})
    noise.write_bytes(noise.read_bytes()[: 1 << 19])
    with pytest.raises(InputError, match="cannot be read at member 'a': Compressed file ended"):
        [read() for _, read in members(noise)]
    whole.write_bytes(whole.read_bytes()[:500])
    with pytest.raises(InputError, match="cannot be read as an archive"):
        list(members(whole))
    monkeypatch.setenv(FILE_BYTES.option, "100")
    plain = archive(tmp_path / "b.tar", "w", {"long": bytes(101)})
    with pytest.raises(InputError, match="member 'long' holds more than 100 bytes"):
        [read() for _, read in members(plain)]


@pytest.mark.parametrize(("text", "message"), [
    ("a = " + "[" * 5000, "nests more than 100 levels"),
    ("a" + ".a" * 500 + " = 1", "nests more than 100 levels"),
    ("a = " + "9" * 5000, "whole number of more than 4,300 digits"),
    ("a = 1\na = 2", "not TOML: Cannot overwrite a value"),
    ("# " + "x" * 2**20, "more than 1,048,576 bytes of TOML"),
    ("a = 2020-99-99", "not TOML"),
])  # fmt: skip
def test_toml(text: str, message: str) -> None:
    """Depth, digits, size and doubled keys have errors of their own."""
    with pytest.raises(InputError, match=message):
        parse_toml(text)


@pytest.mark.parametrize(("text", "message"), [
    ("[" * 100_000, "nests more than 100 levels"),
    ("[" * 101 + "]" * 101, "nests more than 100 levels"),
    ("9" * 5000, "whole number of more than 4,300 digits"),
    (b"\xff", "not a UTF-8 text"),
    ("{", "line 1, column 2"),
])  # fmt: skip
def test_json(text: str | bytes, message: str) -> None:
    """Likewise; a hundred levels are read, with a byte order mark too."""
    with pytest.raises(InputError, match=message):
        parse_json(text)
    assert parse_json(b"\xef\xbb\xbf" + b"[" * 100 + b"]" * 100)


def test_names() -> None:
    """One line that can be printed, of a bounded length."""
    assert check_name("x", "<svg> ü 中 |") == "<svg> ü 中 |"
    for name in ("", "a\nb", "\x1b[31m", "a\u2028b", "\0", "x" * (NAME.most + 1)):
        with pytest.raises(InputError, match=r"^the name must be a text of 1 to 200 printable characters") as caught:
            check_name("the name", name)
        assert len(str(caught.value)) < 200


def test_every_limit_says_how_to_change_it() -> None:
    """An error names the option, if any, and shows the current value."""
    for limit in LIMITS:
        text = limit.text(got=10**7)
        assert limit.option in text
        assert f"{limit.most:,}" in text
        assert "{" not in text
    assert files._UNSUSPICIOUS == 2**26, "the row of EXPANSION says 64 MB"
    assert "64 MB" in EXPANSION.what


@pytest.mark.parametrize("key", ["{0}", "[{0}]", 'x = {{ "y" . {0}', "'z' . {0}"])
def test_a_dotted_key_is_refused_before_it_is_read(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser, which took 31 CPU s for one of 30,000 parts (60 kB), is never called."""
    monkeypatch.setattr(tomllib, "loads", lambda text: pytest.fail("the text was parsed"))
    with pytest.raises(InputError, match="nests more than 100 levels deep"):
        parse_toml(key.format(".".join(["a"] * 30_000)) + " = 1\n")


def test_dots_elsewhere_are_no_keys() -> None:
    """A key of as many parts as may be, and texts with many dots."""
    assert parse_toml(f"{'.'.join(['a'] * 100)} = 1\n")
    text = "'" + "n." * 200 + "'"
    assert parse_toml(f'x = "{"." * 300}" # {"." * 300}\ny = [{text}, {text}]\nz = """\n{"so ... " * 200}\n"""\n')
