"""Plays of a recipe: ``run`` in this process, then ``serve`` here with ``simulate`` in a process of its own."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from tools.frozen.recipe import Recipe
from tools.frozen.worlds import events, machine_file, site_file, workload

WORKLOAD, PLATFORM, EVENTS = "workload.json", "platform.xml", "events.txt"
JOBS, MESSAGES = "jobs.csv", "messages.jsonl"
LOG = "simulator.log"

NOTHING = "-"
"""Digest of what a use does not have."""

_RUN = ("--no-plots", "--no-replay", "--workers", "1", "--force")
_OWN = ("--policy", "--engine", "--events", "--tau")
"""Options of ``run`` that ``serve`` does not have, or has in another form."""

SILENCE_S = "30"
"""Time after which a service gives up on a simulator that has failed (s)."""

_DIGITS = 12
_WORDS = 1500
"""Characters of a failed command's output that are kept."""


class PlayFailed(Exception):
    """A command of a recipe did not end with exit code 0; the text has its last lines."""


class Digests(NamedTuple):
    """Digests of a play: of the table of jobs, and of the messages."""

    jobs: str
    messages: str


def play(recipe: Recipe, folder: Path) -> Digests:
    """Play a recipe in an empty folder, and leave :data:`JOBS` and :data:`MESSAGES` there.

    Raises
    ------
    PlayFailed
        A command failed.
    """
    (folder / WORKLOAD).write_text(json.dumps(workload(recipe)), encoding="utf-8")
    if text := events(recipe):
        (folder / EVENTS).write_text(text, encoding="utf-8")
    if recipe.way == "stepping":
        from tools.frozen.stepping import step

        step(recipe, folder)
    else:
        _run(recipe, folder)
        _converse(recipe, folder)
    return Digests(_digest(folder / JOBS), _digest(folder / MESSAGES))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:_DIGITS] if path.exists() else NOTHING


def _run(recipe: Recipe, folder: Path) -> None:
    """``spillway run``: its table of jobs, and the platform and events that it has prepared."""
    command = ["run", "--workload", str(folder / WORKLOAD), "--platform", str(machine_file(recipe)), *_RUN]
    command += _with_site(recipe, recipe.options)
    command += ["--events", str(folder / EVENTS)] if (folder / EVENTS).exists() else []
    results = folder / "results"
    _call([*command, "--out", str(results)])
    (table,) = results.glob(f"*/{JOBS}")
    shutil.copyfile(table, folder / JOBS)
    (platform,) = results.glob("inputs/*.xml")
    shutil.copyfile(platform, folder / PLATFORM)
    prepared = [path for path in results.glob("inputs/*") if path.suffix not in (".json", ".xml")]
    for path in prepared:
        shutil.copyfile(path, folder / EVENTS)


def _converse(recipe: Recipe, folder: Path) -> None:
    """``spillway serve`` and ``spillway simulate``: all messages, as the service records them."""
    batsim5 = recipe.way == "batsim5"
    if batsim5:
        _call(["workload", "convert", str(folder / WORKLOAD), "--batsim", "5", "--out", str(folder / "five.json")])
    dynamic = not batsim5 and (recipe.model not in ("rigid", "stream") or _resubmits(recipe))
    simulate = ["simulate", "-p", PLATFORM, "-w", "five.json" if batsim5 else WORKLOAD, "-e", "out"]
    simulate += ["--engine", recipe.option("--engine", "fluid"), "--no-wall-clock", "--fail-on-deadlock"]
    simulate += ["--batsim", "5"] if batsim5 else []
    simulate += ["--enable-dynamic-jobs", "--enable-profile-reuse"] if dynamic else []
    if (folder / EVENTS).exists():
        simulate += ["--events", EVENTS, "--forward-unknown-events"]
    door = f"ipc://{folder / 'door'}"
    serve = ["serve", recipe.option("--policy"), "--bind", door, "--record", str(folder / MESSAGES)]
    serve += ["--watchdog", SILENCE_S, "--pass-limit", "inf", *_with_site(recipe, recipe.without(*_OWN))]
    with _beside([*simulate, "-s", door], folder):
        _call(serve)
    messages = folder / MESSAGES
    messages.write_bytes(messages.read_bytes().replace(str(folder).encode(), b"."))


def _resubmits(recipe: Recipe) -> bool:
    """Whether jobs are submitted anew, for which the simulator must take jobs from the scheduler."""
    return "requeue" in recipe.option("--on-outage") or recipe.site in ("tiers", "chain", "suspending")


def _with_site(recipe: Recipe, options: Sequence[str]) -> list[str]:
    path = str(site_file(recipe.site)) if recipe.site else ""
    return [
        path if path and before == "--site" else word for before, word in zip(("", *options), options, strict=False)
    ]


def _call(command: Sequence[str]) -> None:
    """Call a command of the program in this process, and keep what it prints for the case that it fails."""
    from spillway.experiments.cli import main

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = main(list(command))
    if code:
        raise PlayFailed(f"spillway {' '.join(command)}: exit code {code}: {printed.getvalue()[-_WORDS:]}")


@contextlib.contextmanager
def _beside(command: Sequence[str], folder: Path) -> Iterator[None]:
    """Call a command in a process of its own, in a folder, while the block runs; forked, which saves its imports."""
    child = os.fork()
    if child == 0:
        _be(command, folder)
    try:
        yield
    except BaseException as error:
        os.kill(child, signal.SIGKILL)  # it is waited for below: its number is not another process's
        os.waitpid(child, 0)
        raise PlayFailed(f"{error}; {' '.join(command)}: {_last_words(folder / LOG)}") from error
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise PlayFailed(f"{' '.join(command)}: exit code {code}: {_last_words(folder / LOG)}")


def _last_words(log: Path) -> str:
    return log.read_text(encoding="utf-8")[-_WORDS:] if log.exists() else ""


def _be(command: Sequence[str], folder: Path) -> NoReturn:
    """Be the process that a command runs in."""
    code = 1
    try:
        os.chdir(folder)
        log = os.open(LOG, os.O_WRONLY | os.O_CREAT)
        os.dup2(log, 1)
        os.dup2(log, 2)
        from spillway.experiments.cli import main

        code = main(list(command))
    finally:
        os._exit(code)
