"""Names of installed packages: found, listed, refused where they clash; a broken package disturbs only its users."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spillway.base.entry_points import GROUPS, registered
from spillway.base.errors import OptionError
from spillway.experiments.campaign.campaign_file import read_campaign
from spillway.experiments.cli import main as driver
from spillway.experiments.run import codehash
from spillway.experiments.run.codehash import modules_of
from spillway.schedulers.assembly import spec_from
from spillway.schedulers.controllers.control import controller_class
from spillway.schedulers.jobmodels import model_class
from spillway.schedulers.policies import POLICIES, find_policy
from spillway.schedulers.service.command import build_session, session_parser
from spillway.schedulers.service.command import main as service
from tests.schedulers.installed import ALL, install


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test's package is its own."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "inturn"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the module path with a package that registers one class of each kind."""
    folder = install(tmp_path / "site", ALL)
    monkeypatch.syspath_prepend(folder)
    for cached in (codehash.code_of, codehash._read, codehash._sha256):
        cached.cache_clear()
    return folder


def test_a_registered_name_is_used_like_ours(site: Path) -> None:
    """One of each kind, with options; and by the place of its class."""
    entry = find_policy("in-turn")
    assert entry.cls.__name__ == "InTurn"
    assert entry.summary == "Whatever fits of the first jobs."
    assert entry.build({"most": "3"}).most == 3  # type: ignore[attr-defined]
    assert find_policy("inturn.policy:InTurn").cls is entry.cls
    assert model_class("plain").__name__ == "Plain"
    assert controller_class("idle").__name__ == "Idle"
    assert [entry.package for entry in registered("policy") if entry.name == "in-turn"] == ["in-turn 1.5"]


def test_names_in_an_archive_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of packages may be an archive: its list of files cannot be read in advance."""
    archive = shutil.make_archive(str(tmp_path / "packages"), "zip", install(tmp_path / "site", ALL))
    monkeypatch.syspath_prepend(archive)
    assert [entry.package for entry in registered("policy") if entry.name == "in-turn"] == ["in-turn 1.5"]


def test_a_session_is_made_without_the_metadata_of_all_packages() -> None:
    """Where nothing registers a name, a service need not load the readers of archives and e-mail."""
    if any(map(registered, GROUPS)):
        pytest.skip("an installed package registers names")
    code = "import sys; from spillway.schedulers.policies import find_policy; find_policy('easy').build({})\n"
    code += "print([name for name in ('importlib.metadata', 'email', 'zipfile', 'asyncio') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_the_list_says_where_a_name_is_from(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without loading anything."""
    assert service(["--list"]) == 0
    shown = capsys.readouterr().out
    for words in ("in-turn 1.5", "inturn.policy:InTurn", "inturn.model:Plain", "inturn.control:Idle", "controller"):
        assert words in shown
    assert "inturn.policy" not in sys.modules


@pytest.mark.parametrize(
    ("group", "name", "find"),
    [("spillway.policies", "easy", find_policy), ("spillway.models", "io", model_class)],
)
def test_a_clash_with_ours_is_refused(
    group: str, name: str, find: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name is ambiguous: the error, one line, names both places and the spelling to use instead."""
    monkeypatch.syspath_prepend(install(tmp_path, {group: {name: "inturn.policy:InTurn"}}))
    with pytest.raises(OptionError, match=rf"'{name}' is built in, and the installed package in-turn 1.5 registers"):
        find(name)  # type: ignore[operator]
    assert find_policy("fcfs") is POLICIES["fcfs"], "other names are as they were"


def test_two_packages_with_one_name(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are named."""
    other = {"spillway.policies": {"in-turn": "second.policy:InTurn"}}
    monkeypatch.syspath_prepend(install(tmp_path / "two", other, name="second", distribution="the-other"))
    with pytest.raises(OptionError, match=r"two installed packages, in-turn 1\.5 and the-other 1\.5"):
        find_policy("in-turn")


@pytest.mark.parametrize(("place", "words"), [
    ("no_such_package.policy:X", "module 'no_such_package.policy' is not found"),
    ("inturn.policy:Gone", "has no class 'Gone'"),
    ("inturn.broken:X", "line 2: ZeroDivisionError"),
    ("inturn.parts", "expected FILE.py:CLASS"),
    ("inturn.parts:first", "a function must take its view alone: missing a required argument: 'most'"),
])  # fmt: skip
def test_a_broken_package_fails_where_it_is_named(
    place: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With one line that names it; other names and the list are as they were."""
    folder = install(tmp_path / "site", {"spillway.policies": {"broken": place}})
    (folder / "inturn" / "broken.py").write_text("x = 1\n1 / 0\n")
    monkeypatch.syspath_prepend(folder)
    assert find_policy("easy") is POLICIES["easy"]
    assert service(["--list"]) == 0
    capsys.readouterr()
    assert driver(["run", "--workload", "kth-like:jobs=3", "--policy", "broken", "--out", str(tmp_path / "o")]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if "compiling" not in line]
    assert len(lines) == 1
    assert words in lines[0]
    assert "policy 'broken' of the installed package in-turn 1.5" in lines[0]


def test_unknown_names_are_compared_with_theirs(site: Path) -> None:
    """For a misspelt registered name the error suggests it, as for a built-in one."""
    with pytest.raises(OptionError, match=r"unknown policy 'in-trun' \(did you mean 'in-turn'\?\)"):
        find_policy("in-trun")
    with pytest.raises(OptionError, match=r"unknown controller 'idel'.*did you mean 'idle'"):
        controller_class("idel")
    with pytest.raises(OptionError, match=r"unknown job model 'plian'.*did you mean 'plain'"):
        model_class("plian")


@pytest.mark.parametrize("name", ["in-turn", "inturn.policy:InTurn", "inturn/policy.py:InTurn"])
def test_every_door_takes_it(name: str, site: Path, tmp_path: Path) -> None:
    """The service's command line, pybatsim's JSON, campaigns; relative imports need the package."""
    if name.endswith(".py:InTurn"):
        with pytest.raises(OptionError, match="ImportError: attempted relative import"):
            find_policy(str(site / name))
        return
    assert type(spec_from({"policy": name, "options": {"most": 4}}).make_policy()).__name__ == "InTurn"
    build_session(session_parser().parse_args([name, "-o", "most=2", "--model", "plain"]))
    model = "malleable:controller=idle"
    build_session(session_parser().parse_args([name, "--model", model]))
    campaign = tmp_path / "c.toml"
    campaign.write_text(
        f'models = ["plain"]\n[[workload]]\nsource = "kth-like:jobs=4"\n'
        f'[[policy]]\npolicy = "{name}"\noptions = {{most = 9}}\n'
    )
    (policy,) = read_campaign(campaign).policies
    assert (policy.policy, policy.options) == (name, {"most": 9})


def test_a_run_says_where_it_is_from_and_repeats(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Policy and model of a package: kept, repeated by run.json's command, marked when it is edited."""
    monkeypatch.chdir(tmp_path)
    given = ["run", "--workload", "kth-like:jobs=4", "--model", "plain", "--policy", "in-turn:most=9"]
    given += ["--platform", "thesis", "--out", "out"]
    common = ["--no-plots", "--workers", "1"]
    assert driver([*given, *common]) == 0, capsys.readouterr().err
    (path,) = (tmp_path / "out").glob("*/run.json")
    record = json.loads(path.read_text())
    assert record["packages"] == {"in-turn": "in-turn 1.5", "plain": "in-turn 1.5"}
    words = shlex.split(record["repeat"])
    monkeypatch.chdir(tmp_path / "out")
    assert driver([*words[words.index("run") :], *common]) == 0
    (again,) = (tmp_path / "out" / "repeated").glob("*/run.json")
    assert (path.parent / "jobs.csv").read_bytes() == (again.parent / "jobs.csv").read_bytes()
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    (site / "inturn" / "parts.py").write_text("def first(jobs, most):\n    return list(jobs)[:most]\n")
    codehash._sha256.cache_clear()
    codehash.code_of.cache_clear()
    assert driver([*given, *common]) == 0
    shown = capsys.readouterr()
    assert "other code" in shown.out + shown.err


def test_the_digest_covers_its_own_package_only(site: Path) -> None:
    """It covers its module, that module's imports from its package, and the enclosing packages, nothing else."""
    (site / "besides.py").write_text("x = 1\n")
    (site / "inturn" / "parts.py").write_text(
        "import besides\nimport numpy\nfrom . import more\n\ndef first(a, b): return a\n"
    )
    (site / "inturn" / "more.py").write_text("from inturn import further\n")
    (site / "inturn" / "further.py").write_text("x = 1\n")
    module = find_policy("in-turn").cls.__module__
    outside = {name for name in modules_of(module) if not name.startswith("spillway.")}
    assert outside == {"inturn", "inturn.policy", "inturn.parts", "inturn.more", "inturn.further"}
    assert "spillway.schedulers.policykit.passes" in modules_of(module)
