"""Provenance of a result: versions, commit, inputs, and the command that repeats it."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import inspect
import platform
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from spillway.base import durable
from spillway.base.arguments import PROGRAM, words_of
from spillway.base.entry_points import registered
from spillway.base.neighbours import neighbours_of
from spillway.base.plugins import joined_spec
from spillway.experiments.run.codehash import code_of
from spillway.experiments.run.folders import INPUTS
from spillway.experiments.run.sessions import SETTINGS, SITE
from spillway.experiments.run.spec import Playing, RunSpec
from spillway.experiments.run.version import commit
from spillway.platforms.catalogue import checksum, resolve_platform
from spillway.schedulers.assembly import Settings
from spillway.schedulers.controllers.control import controller_class
from spillway.schedulers.jobmodels import model_class
from spillway.schedulers.policies import find_policy

SOURCES = "sources"
"""Key of ``run.json``: path of the campaign's copy of each class from a file, by the name that was given."""

_SIMULATION = "spillway.experiments.run.simulation"

PACKAGES = ("numpy", "msgspec", "pyzmq", "networkx", "z3-solver")
"""Packages that results may depend on."""


@functools.cache
def versions() -> dict[str, str]:
    """Versions of Python, of this project and of the packages that results may depend on."""
    found = {"python": platform.python_version(), "spillway": _version("spillway")}
    return found | {name: _version(name) for name in PACKAGES}


def code_of_run(policy: str, model: str, model_options: Mapping[str, Any]) -> str:
    """Hash of the code that decides a run's result: simulation and rows, its policy, job model and own controller."""
    roots = [find_policy(policy).cls.__module__, _SIMULATION, model_class(model).__module__]
    controller = model_options.get("controller")
    if controller:
        roots.append(controller_class(str(controller)).__module__)
    return code_of(*roots)


@functools.cache
def platform_checksum(name: str) -> str:
    """Checksum of a built-in platform, which is data and therefore not among the code."""
    return checksum(resolve_platform(name))


def metrics_code() -> str:
    """Hash of the code that makes a run's figures from its rows."""
    return code_of("spillway.analysis.measures.metrics", "spillway.analysis.tables.jobs")


def describe(run: RunSpec, flags: Sequence[str] = ()) -> dict[str, Any]:
    """Entries of ``run.json`` except the outcome; ``flags``: command-line options besides the run's settings."""
    packages = _packages_of(run)
    sources = {name: _place_of_copy(name) for name in _from_files(run)}
    return {
        "id": run.id,
        "configuration": msgspec.to_builtins(run),
        **({SOURCES: sources} if sources else {}),
        "job_model": (inspect.getdoc(model_class(run.model.name)) or "").partition("\n")[0],
        "repeat": shlex.join([*_repeat_command(run), *flags]),
        "versions": versions(),
        **({"packages": packages} if packages else {}),
        "commit": commit(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _packages_of(run: RunSpec) -> dict[str, str]:
    """Installed packages that registered a run's policy, job model or controller: name and version, by the name."""
    controller = str(run.model_options.get("controller") or "").partition(":")[0]
    named = {"policy": run.policy.policy, "job model": run.model.name, "controller": controller}
    return {
        name: entry.package for kind, name in named.items() if name for entry in registered(kind) if entry.name == name
    }


def _repeat_command(run: RunSpec) -> list[str]:
    """Command that repeats the run in the campaign's folder, also in another place, from the copies there."""
    command = [PROGRAM, "run", "--workload", run.workload.path, "--platform", run.platform.path]
    options = {key: value for key, value in run.settings.items() if key not in SETTINGS}
    command += ["--policy", joined_spec(_place_of_copy(run.policy.policy), options)]
    site = str(run.settings[SITE])
    command += words_of(Settings, run.settings | {SITE: site_copy(site) if site else ""})
    if run.policy.literal:
        command.append("--thesis-literal")
    model_options = {
        key: _place_of_copy(value) if isinstance(value, str) else value for key, value in run.model_options.items()
    }
    command += ["--model", joined_spec(_place_of_copy(run.model.name), model_options)]
    played = {"engine": run.engine, "transport": run.transport, "image": run.image}
    played |= {"events": run.events.path} if run.events is not None else {}
    return [*command, *words_of(Playing, played), "--seed", str(run.seed), "--out", "repeated"]


def site_copy(text: str) -> str:
    """Path of the copy of a site's text in a folder of results: the text may be too long for a command line."""
    return f"{INPUTS}/site-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"


def copy_sources(run: RunSpec, root: Path) -> None:
    """Copy the files of a run's classes from outside (``FILE.py:CLASS``), with their imports from the same folder.

    Raises
    ------
    WriteFailed
        A copy cannot be written.
    """
    for name in _from_files(run):
        folder = (root / _place_of_copy(name).partition(":")[0]).parent
        path = Path(name.partition(":")[0]).resolve()
        for file in (path, *neighbours_of(path).values()):
            copy = folder / file.relative_to(path.parent)
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                durable.write_bytes(copy, file.read_bytes())


def _from_files(run: RunSpec) -> list[str]:
    """Names of a run's policy, job model and controller that are classes of a file (``FILE.py:CLASS``)."""
    values = (run.policy.policy, run.model.name, *run.model_options.values())
    return [value for value in values if isinstance(value, str) and _place_of_copy(value) != value]


def _place_of_copy(name: str) -> str:
    """``inputs/FILE-DIGEST/FILE.py:CLASS`` for a class from a file; any other name unchanged."""
    file, colon, cls = name.partition(":")
    path = Path(file)
    if path.suffix != ".py" or not path.is_file():
        return name
    contents = [path.read_bytes(), *(path.read_bytes() for path in neighbours_of(path).values())]
    digest = hashlib.sha256(b"\0".join(contents)).hexdigest()[:8]
    return f"{INPUTS}/{path.stem}-{digest}/{path.name}{colon}{cls}"


def environment() -> str:
    """Versions of Python and of all installed packages, in the form of ``pip install -r``."""
    found = {_stated(distribution) for distribution in importlib.metadata.distributions()}
    lines = sorted((f"{name}=={version}" for name, version in found if name), key=str.lower)
    return "\n".join([f"# Python {platform.python_version()}, {platform.system()} {platform.machine()}", *lines]) + "\n"


def _stated(package: importlib.metadata.Distribution) -> tuple[str, str]:
    """Name and version of an installed package; "" for one that is not stated.

    They are two lines at the head of a text that may have hundreds; the library parses the whole text as an e-mail,
    which took a twelfth of a small run.
    """
    text = package.read_text("METADATA") or package.read_text("PKG-INFO") or package.read_text("") or ""
    head = text.partition("\n\n")[0]
    name, version = (next(iter(re.findall(rf"(?im)^{key}:[ \t]*(.*\S)", head)), "") for key in ("Name", "Version"))
    return name, version


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def python() -> str:
    """Path of this process's interpreter, for child processes."""
    return sys.executable
