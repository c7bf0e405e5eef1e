"""The rules of imports hold, and a probe that breaks one is caught."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports.graph import PACKAGES, REPOSITORY, imports, modules
from tests.imports.law import EXCEPTIONS, LAW, faults, rule_of

OURS = modules()

PROBES = [
    ("schedulers.policies.probe", "from spillway.schedulers.policies.backfill import Backfill"),
    ("schedulers.lives.probe", "from spillway.schedulers.policies.backfill import Backfill"),
    ("schedulers.lives", "from spillway.schedulers.core.book import Book"),
    ("schedulers.lives.probe", "from spillway.schedulers.core.book import Book"),
    ("schedulers.policies.probe", "from spillway.schedulers.policies import POLICIES"),
    ("schedulers.policies", "from spillway.schedulers.core.session import Session"),
    ("base.plugins", "from spillway.schedulers.policies import POLICIES"),
    ("schedulers.jobmodels", "from spillway.schedulers.policies import POLICIES"),
    ("schedulers.policies.probe", "from . import backfill"),
    ("schedulers.policies.probe", "from spillway.schedulers.core.book import Book"),
    ("schedulers.policies.probe", "from spillway.schedulers.core import book"),
    ("schedulers.policies.probe", "import spillway.schedulers.core.session"),
    ("schedulers.policies.probe", "from spillway.schedulers.core.session import Session"),
    ("schedulers.policies.probe", "from spillway.protocol.messages import ExecuteJob"),
    ("schedulers.policies.probe", "from spillway.schedulers.jobmodels import base"),
    ("core.probe", "from spillway.schedulers.model.job import Job"),
    ("schedulers.policies.probe", "from spillway.core.placement import Placement"),
    ("schedulers.policies.probe", "from spillway.schedulers.assembly import assemble"),
    ("schedulers.policies.probe", "import spillway.simulator.wire.broker"),
    ("schedulers.policies.probe", "def late():\n    import time"),
    ("schedulers.policies.probe", "import datetime"),
    ("schedulers.policies.probe", "import random"),
    ("schedulers.policies.probe", "from random import Random"),
    ("schedulers.policies.probe", "import numpy as np\nx = np.random.rand()"),
    ("schedulers.policies.probe", "from numpy.random import default_rng"),
    ("schedulers.policies.probe", "import os"),
    ("schedulers.policies.probe", "import socket"),
    ("schedulers.policies.probe", "import importlib"),
    ("schedulers.policies.probe", "x = __import__('time')"),
    ("schedulers.policies.probe", "import requests"),
    ("schedulers.policykit.probe", "from spillway.schedulers.policies.plan import Plan"),
    ("schedulers.policykit.probe", "from spillway.schedulers.core.book import Book"),
    ("schedulers.policykit.probe", "from random import shuffle"),
    ("schedulers.policykit.probe", "import time"),
    ("schedulers.search.probe", "from spillway.schedulers.model.job import Job"),
    ("schedulers.search.probe", "from spillway.schedulers.policykit.view import View"),
    ("schedulers.search.probe", "from time import monotonic"),
    ("schedulers.search.probe", "import random"),
    ("schedulers.timesharing.probe", "from spillway.schedulers.core.book import Book"),
    ("schedulers.timesharing.probe", "from spillway.schedulers.policykit.view import View"),
    ("schedulers.site_file", "from spillway.schedulers.core.session import Session"),
    ("schedulers.site_file", "from spillway.platforms.model import Platform"),
    ("schedulers.core.probe", "from spillway.schedulers.policies import POLICIES"),
    ("schedulers.core.probe", "from spillway.schedulers.jobmodels.io_aware import IoAware"),
    ("schedulers.core.probe", "from spillway.schedulers.assembly import assemble"),
    ("schedulers.core.probe", "from spillway.protocol.batsim4 import codec"),
    ("schedulers.core.probe", "import zmq"),
    ("schedulers.core.probe", "import time"),
    ("schedulers.jobmodels.probe", "from spillway.schedulers.policies.gang import Gang"),
    ("schedulers.jobmodels.probe", "from spillway.schedulers.core.session import Session"),
    ("schedulers.jobmodels.probe", "from spillway.schedulers.core.book import Book"),
    ("schedulers.jobmodels.probe", "import time"),
    ("schedulers.jobmodels.probe", "import random"),
    ("schedulers.controllers.probe", "from spillway.schedulers.model.job import Job"),
    ("schedulers.controllers.probe", "from spillway.schedulers.policykit.view import View"),
    ("schedulers.controllers.probe", "from spillway.protocol.messages import Event"),
    ("schedulers.applications.probe", "from spillway.schedulers.controllers.scene import Scene"),
    ("protocol.probe", "from spillway.schedulers.model.job import Job"),
    ("protocol.batsim4.probe", "import zmq"),
    ("protocol.batsim4.fields", "import zmq"),
    ("protocol.probe", "import time"),
    ("schedulers.service.server", "import zmq"),
    ("base.probe", "from spillway.protocol.messages import Event"),
    ("protocol.probe", "from spillway.schedulers.model.job import Job"),
    ("core", "from spillway.base.errors import InputError"),
    ("simulator.engines.probe", "from spillway.core._native import Engine"),
    ("schedulers.model.probe", "from spillway.schedulers.policykit.view import View"),
    ("platforms.probe", "from spillway.protocol.messages import Event"),
    ("schedulers.service.door", "from spillway.protocol.batsim4 import codec"),
    ("base.options", "import zmq"),
    ("base.near", "from spillway.base.errors import shown"),
    ("base.entry_points", "from spillway.schedulers.policies import POLICIES"),
    ("schedulers.assembly", "from experiments import sessions"),
    ("schedulers.service.narrator", "from spillway.schedulers.core.book import Book"),
    ("simulator.probe", "from spillway.schedulers.core.session import Session"),
    ("simulator.probe", "from spillway.schedulers.policies import POLICIES"),
    ("simulator.engines.probe", "from spillway.schedulers.jobmodels.base import Execution"),
    ("simulator.probe", "from spillway.schedulers.service.server import serve"),
    ("simulator.probe", "from workloads import Workload"),
    ("simulator.probe", "from spillway.experiments.run.spec import RunSpec"),
    ("platforms.sites.measurements", "import networkx"),
    ("platforms.simgrid.zones.probe", "from workloads import Workload"),
    ("workloads.probe", "from spillway.platforms.model import Platform"),
    ("workloads.models.synthetic.probe", "from spillway.schedulers.model.job import Job"),
    ("base.probe", "from spillway.workloads.errors import WorkloadError"),
    ("learning.probe", "from spillway.experiments.cli import main"),
    ("learning.probe", "from spillway.simulator.wire.command import main"),
    ("learning.probe", "from spillway.schedulers.policies.backfill import Backfill"),
    ("learning.probe", "import torch"),
    ("learning.probe", "import threading"),
    ("learning.network_policy", "from spillway.learning.env import SchedulingEnv"),
    ("learning.network_policy", "import gymnasium"),
    ("analysis.probe", "from spillway.experiments.run.spec import RunSpec"),
    ("analysis.plots.probe", "from spillway.protocol.intervals import parse_intervals"),
    ("experiments.probe", "from tests.reference.fluid import PlainFluid"),
    ("experiments.trials.account", "from spillway.schedulers.core.book import Book"),
    ("experiments.trials.observer", "from spillway.schedulers.policykit.view import View"),
]


@pytest.mark.parametrize("module", sorted(OURS))
def test_every_module_keeps_the_law(module: str) -> None:
    """A module imports only the modules that its rule names, except for the listed exceptions."""
    path = OURS[module]
    found = faults(module, path.read_text(), OURS, path.name == "__init__.py")
    assert [str(edge) for edge in found if (edge.module, edge.target) not in EXCEPTIONS] == []


@pytest.mark.parametrize(("module", "source"), PROBES)
def test_probe_is_caught(module: str, source: str) -> None:
    """A file that breaks the rules is named with the line of its import."""
    found = faults(module, source, OURS)
    assert [fault.line for fault in found] == [source.count("\n") + 1]
    assert module in str(found[0])


def test_every_rule_has_a_probe() -> None:
    """Every rule but those of the shell, which may import all of the scheduler, is broken by some probe."""
    probed = {rule_of(module) for module, _ in PROBES}
    shell = {
        "schedulers",
        "schedulers.service.pybatsim",
        "schedulers.service.pybatsim4",
        "protocol.transcript",
        "base.errors",
    }
    assert set(LAW) - probed == shell


def test_every_exception_is_needed() -> None:
    """An exception without its import must be deleted."""
    needed = {
        (module, fault.target)
        for module in {module for module, _ in EXCEPTIONS}
        for fault in faults(module, OURS[module].read_text(), OURS)
    }
    assert set(EXCEPTIONS) - needed == set()


def test_a_new_folder_needs_a_rule() -> None:
    """A module of a part that no rule names is an error, not free."""
    with pytest.raises(KeyError, match=r"no rule in tests/imports/law\.py holds for 'schedulers\.novel\.thing'"):
        rule_of("schedulers.novel.thing")


def test_the_documented_policy_keeps_the_law() -> None:
    """The policy that docs/adding-a-policy.md builds has only imports that the rule for policies allows."""
    page = (REPOSITORY / "docs" / "adding-a-policy.md").read_text()
    blocks = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "import View" in block]
    assert len(blocks) == 2
    for code in blocks:
        assert "schedulers.policykit.view" in {
            imported.target for imported in imports("schedulers.policies.own", code, frozenset(OURS))
        }
        assert faults("schedulers.policies.own", code, OURS) == []


def test_lint_imports_catches_a_probe(tmp_path: Path) -> None:
    """``lint-imports`` fails at a policy's forbidden import: once it printed "10 kept, 0 broken" here."""
    for package in (*PACKAGES, "spillway", "tests/imports"):
        shutil.copytree(
            REPOSITORY / package,
            tmp_path / package,
            ignore=shutil.ignore_patterns("__pycache__", "*.xz"),
            symlinks=True,
        )
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    (tmp_path / "tests" / "__init__.py").touch()
    denied = [
        "time",
        "spillway.schedulers.policies.backfill",
        "spillway.schedulers.core.book",
        "spillway.schedulers.core.guard",
        "spillway.protocol.messages",
    ]
    probe = tmp_path / "schedulers" / "policies" / "probe.py"
    probe.write_text("".join(f"import {target}\n" for target in denied))
    command = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    ended = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    said = " ".join(ended.stdout.split())
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert [
        f"schedulers.policies.probe, line {line}: imports {target.removeprefix('spillway.')}," in said
        for line, target in enumerate(denied, 1)
    ] == [True] * 5
    assert "Policies do not see each other, also indirectly BROKEN" in said
