"""Folders of results that strangers made: no command follows a link in them, and none runs code that they name."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import spillway as sw
from spillway.base.errors import InputError, OptionError, SpillwayError
from spillway.experiments.cli import main
from spillway.experiments.run import docker_engine, manifest

RUN = ["run", "kth-like:jobs=5", "--platform", "tiny", "-p", "fcfs", "--no-plots", "--no-replay"]
MINE = "years of work\n"
CODE = """\
open("RAN", "w").close()
from dataclasses import dataclass
@dataclass(frozen=True)
class Mine:
    '''A policy.'''
    def __call__(self, view):
        return ()
    def program(self, job):
        return iter(())
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results as the command writes it."""
    out = tmp_path_factory.mktemp("made") / "results"
    assert main([*RUN, "--out", str(out)]) == 0
    assert main(["report", str(out)]) == 0
    return out


@pytest.fixture
def got(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it beside a file and a folder of the user; its name begins as the package's does."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made, "spillway.got")
    Path("victim.txt").write_text(MINE)
    Path("victims").mkdir()
    Path("victims/mine.png").write_text(MINE)
    return Path("spillway.got")


def run_of(folder: Path) -> Path:
    """The folder's one run."""
    (found,) = (path.parent for path in folder.glob("*/run.json"))
    return found


def job_of(run: Path) -> str:
    """Its first job."""
    return (run / "jobs.csv").read_text().splitlines()[1].partition(",")[0]


def seal(run: Path) -> None:
    """Seal a run's folder again."""
    (run / "manifest.json").unlink()
    manifest.seal(run, [path.name for path in run.iterdir()])


COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "explain": lambda got: ["explain", str(run_of(got)), job_of(run_of(got))],
    "verify": lambda got: ["verify", str(got)],
    "report": lambda got: ["report", str(got)],
    "figures": lambda got: ["report", str(got), "--figures", "png"],
    "report elsewhere": lambda got: ["report", str(got), "--out", "page.html"],
    "export": lambda got: ["export", str(run_of(got)), "jobs.swf"],
    "run": lambda got: [*RUN, "--out", str(got)],
    "whatif": lambda got: ["whatif", "kth-like:jobs=5", "--platform", "tiny", "--set", "load=x1.1", "--out", str(got)],
    "study": lambda got: ["study", "thesis", "--quick", "--out", str(got)],
}  # fmt: skip
LINKS: dict[str, Callable[[Path], Path]] = {
    "lock": lambda got: got / ".lock",
    "probe": lambda got: got / ".writable",
    "table": lambda got: run_of(got) / "allocations.csv",
    "page": lambda got: got / "report.html",
    "text": lambda got: got / "assumptions.txt",
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("link", LINKS)
def test_no_link_is_followed(got: Path, command: str, link: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The lock's was: a file of the user was overwritten."""
    arguments = COMMANDS[command](got)
    place = LINKS[link](got)
    place.unlink(missing_ok=True)
    place.symlink_to(os.path.relpath("victim.txt", place.parent))
    code = main(arguments)
    said = "".join(capsys.readouterr())
    assert Path("victim.txt").read_text() == MINE
    assert MINE.strip() not in said
    if command != "export" or link == "table":  # the others lie above the run
        assert code in (1, 2)
        assert "link" in said


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "export"])
@pytest.mark.parametrize("name", ["plots", "inputs", "runs"])
def test_no_folder_is_left_through_a_link(
    got: Path, command: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link in place of a folder."""
    arguments = COMMANDS[command](got)
    shutil.rmtree(got / name, ignore_errors=True)
    (got / name).symlink_to("../victims")
    assert main(arguments) in (1, 2)
    assert "link" in "".join(capsys.readouterr())
    assert [path.name for path in Path("victims").iterdir()] == ["mine.png"]
    assert Path("victims/mine.png").read_text() == MINE


def test_a_further_name_of_another_file_is_no_lock(got: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A hard link."""
    os.link("victim.txt", got / ".lock")
    assert main(COMMANDS["explain"](got)) == 2
    assert "hard link" in capsys.readouterr().err
    assert Path("victim.txt").read_text() == MINE


def test_a_pipe_is_not_waited_for(got: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Opening one for reading never ends."""
    os.mkfifo(run_of(got) / "reasons.csv")
    assert main(COMMANDS["report"](got)) == 2
    assert "is a pipe" in capsys.readouterr().err
    assert main(COMMANDS["verify"](got)) == 1


def test_no_pipe_in_place_of_a_file_is_waited_for(got: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The record of a run, an input, a kept result: verify waited for ever."""
    (workload,) = (path for path in (got / "inputs").iterdir() if path.suffix == ".json")
    kept = sorted(got.rglob("runs/*.json"))[:1]
    for path in (run_of(got) / "run.json", workload, *kept):
        content = path.read_bytes()
        path.unlink()
        os.mkfifo(path)
        assert main(COMMANDS["verify"](got)) == 1
        assert f"damaged: {path.parent.name}" in capsys.readouterr().out or path == workload
        path.unlink()
        path.write_bytes(content)


@pytest.mark.parametrize("place", ["table", "record", "manifest", "summary"])
@pytest.mark.parametrize("command", ["report", "pdf", "export"])
def test_no_output_takes_the_place_of_results(
    got: Path, command: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table of a run was lost, with exit code 0; the page's own place is written again, and listed."""
    run = run_of(got)
    file = {"table": run / "jobs.csv", "record": run / "run.json", "manifest": got / "manifest.json",
            "summary": got / "summary.csv"}[place]  # fmt: skip
    option = {
        "report": ["report", str(got), "--out"],
        "pdf": ["report", str(got), "--pdf"],
        "export": ["export", str(run)],
    }
    assert main([*option[command], str(file)]) == 2
    if command != "export" or file.suffix == ".csv":
        assert "it would take the place of a file of the results" in capsys.readouterr().err
    assert main(["report", str(got), "--out", str(got / "report.html")]) == 0
    assert main(["verify", str(got)]) == 0


NAMES = ["spillway.got/p.py:Mine", "spillway.got/p.py", "spillway.p:Mine", "spillway.got.p:Mine", "spillway..p:Mine"]
CODES = [("policy", name) for name in NAMES] + [("model", NAMES[0]), ("controller", NAMES[3])]


@pytest.mark.parametrize(("place", "name"), CODES)
def test_code_is_ours_by_its_place(
    got: Path, place: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Failed before: the text began with ``spillway.``."""
    monkeypatch.syspath_prepend(str(Path.cwd()))
    for file in ("p.py", "../p.py"):
        (got / file).write_text(CODE)
    run = run_of(got)
    record = json.loads((run / "run.json").read_text())
    configuration = record["configuration"]
    if place == "policy":
        configuration["policy"]["policy"] = name
    elif place == "model":
        configuration["model"]["name"] = name
    else:
        configuration["model"]["name"] = "malleable"
        configuration["model"]["options"] = configuration["model_options"] = {"controller": name}
    (run / "run.json").write_text(json.dumps(record))
    seal(run)
    for command in ("verify", "report", "report elsewhere", "figures", "export", "explain"):
        code = main(COMMANDS[command](got))
        assert not Path("RAN").exists(), command
    assert code == 2
    assert "--trust lets it run" in capsys.readouterr().err
    with pytest.raises(OptionError, match="is code from outside"):
        sw.explain(run, job_of(run))
    with pytest.raises(OptionError, match="is code from outside"):
        sw.Results(got).explain(job_of(run))
    assert not Path("RAN").exists()
    if (place, name) == ("policy", NAMES[0]):
        main([*COMMANDS["explain"](got), "--trust"])
        assert Path("RAN").exists()


def test_an_image_is_code(got: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A container's image that a folder names was fetched and run; with trust it is run, and not the default one."""
    run = run_of(got)
    record = json.loads((run / "run.json").read_text())
    record["configuration"] |= {"engine": "docker", "image": "stranger/batsim"}
    (run / "run.json").write_text(json.dumps(record))
    seal(run)
    assert main(COMMANDS["explain"](got)) == 2
    assert "the image 'stranger/batsim' is code from outside" in capsys.readouterr().err
    asked: list[str] = []
    monkeypatch.setattr(docker_engine, "command", lambda image: asked.append(image) or ("false",))
    assert main([*COMMANDS["explain"](got), "--trust"]) != 0
    assert asked == ["stranger/batsim"]


def test_results_of_a_call_are_read_through_the_same_door(got: Path) -> None:
    """The Python calls look for links and for runs elsewhere."""
    (got / "summary.csv").write_text((got / "summary.csv").read_text().replace(run_of(got).name, "../victims"))
    (got / "manifest.json").unlink()
    with pytest.raises(SpillwayError, match="must name a folder here"):
        sw.Results(got).jobs()
    (got / "x").symlink_to("../victims")
    with pytest.raises(InputError, match="is a link"):
        sw.Results(got)
