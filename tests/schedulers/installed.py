"""An installed package that registers classes: its files in a folder, as pip would leave them there."""

from collections.abc import Mapping
from pathlib import Path

POLICY = '''\
"""Start in order of submission, as many as the option says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spillway.base.options import option
from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.policykit.passes import fill
from spillway.schedulers.policykit.view import View

from .parts import first


@dataclass(frozen=True)
class InTurn:
    """Whatever fits of the first jobs."""

    most: int = option(50, unit="jobs", low=1, help="how many jobs are looked at")

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        return fill(view, first(view.queue, self.most))
'''
PARTS = """\
def first(jobs, most):
    return jobs[:most]
"""
MODEL = '''\
from dataclasses import dataclass

from spillway.schedulers.jobmodels.base import JobModel, Submitted


@dataclass(frozen=True)
class Plain(JobModel):
    """As submitted."""

    def program(self, job, granted, machine):
        yield Submitted()
'''
CONTROLLER = '''\
from dataclasses import dataclass


@dataclass(frozen=True)
class Idle:
    """Leaves everything as it is."""

    def __call__(self, scene):
        return ()
'''


def install(
    folder: Path, entries: Mapping[str, Mapping[str, str]], *, name: str = "inturn", distribution: str = "in-turn"
) -> Path:
    """Write the package and its entry points (names and places by group); return the folder for the module path."""
    package = folder / name
    package.mkdir(parents=True)
    texts = {"__init__": '"""A package."""\n', "policy": POLICY, "parts": PARTS, "model": MODEL, "control": CONTROLLER}
    for module, text in texts.items():
        (package / f"{module}.py").write_text(text)
    info = folder / f"{distribution.replace('-', '_')}-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.5\n")
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {place}\n" for key, place in names.items())
        for group, names in entries.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return folder


ALL = {
    "spillway.policies": {"in-turn": "inturn.policy:InTurn"},
    "spillway.models": {"plain": "inturn.model:Plain"},
    "spillway.controllers": {"idle": "inturn.control:Idle"},
}
"""One of each kind."""
