"""The image's packages are those of the lock file, and all that the image's code needs."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIRECT = ("msgspec", "numpy", "pyzmq", "z3-solver")
"""Packages that schedulers/, simulator/, platforms/ and workloads/ import, except for pictures."""


def pins(path: Path) -> dict[str, str]:
    """Versions by package name in a file of requirements."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.lower().removesuffix(" \\").split("==") for line in lines if line and line[0] not in "# ")


def closure(names: tuple[str, ...]) -> set[str]:
    """Packages that are installed with these."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop().lower()
        if name in found:
            continue
        found.add(name)
        needed = (text for text in importlib.metadata.requires(name) or () if ";" not in text)
        todo += [re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0] for text in needed]
    return found


def test_pins_are_those_of_the_lock_file() -> None:
    """A package has one version, in the image as outside."""
    image, lock = pins(ROOT / "docker" / "requirements.txt"), pins(ROOT / "requirements.lock.txt")
    assert image.items() <= lock.items()


def test_a_user_installs_what_the_project_needs_and_nothing_else() -> None:
    """The closure of dependencies and of what builds it; the other file has what tests, documentation, extras need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    stated = [*project["project"]["dependencies"], *project["build-system"]["requires"], "cmake", "ninja"]
    names = tuple(re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0] for text in stated)
    user, rest = pins(ROOT / "requirements.lock.txt"), pins(ROOT / "requirements-dev.lock.txt")
    assert {plain(name) for name in user} == {plain(name) for name in closure(names)}
    assert not user.keys() & rest.keys()


def plain(name: str) -> str:
    """A package's name as an index compares it."""
    return re.sub(r"[-_.]+", "-", name.lower())


def test_pins_are_closed() -> None:
    """Nothing is left to be resolved when the image is built, and nothing is there that is not needed."""
    assert set(pins(ROOT / "docker" / "requirements.txt")) == closure(DIRECT)


@pytest.mark.parametrize("name", ["requirements.txt", "build-requirements.txt"])
def test_every_package_of_the_image_has_checksums(name: str) -> None:
    """Two wheels or one that serves both architectures: pip refuses a list in which a single one is missing."""
    text = (ROOT / "docker" / name).read_text(encoding="utf-8")
    pinned = re.findall(r"^\S+==\S+((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", text, re.MULTILINE)
    assert len(pinned) == len(pins(ROOT / "docker" / name))


def test_the_core_is_compiled_by_the_same_packages_as_outside() -> None:
    """Those of the lock file; the compiler's version is that of ``make setup`` where there is none."""
    build = pins(ROOT / "docker" / "build-requirements.txt")
    zig = re.search(r"^ZIGLANG := (\S+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert zig is not None
    assert build.pop("ziglang") == zig[1]
    assert build.items() <= pins(ROOT / "requirements.lock.txt").items()
