"""Report of ``spillway conformance slurm``: schedulers under which the large job starves, in words and a figure."""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from spillway.analysis.document.blocks import Block, Heading, Listing, Paragraph, Table
from spillway.base.arguments import tell
from spillway.experiments.run.errors import SpecError
from spillway.experiments.slurm.availability import MissingRequirement
from spillway.experiments.slurm.starvation import MEASURED, SHIPPED, keep, kept, recorded, run_all
from spillway.experiments.trials.conformance import greet
from spillway.experiments.trials.report import deliver
from spillway.experiments.trials.starvation import (
    CASES,
    DELAYED_S,
    LARGE,
    VARIANTS,
    BuiltinPolicy,
    LargeJobDelay,
    OutsideScheduler,
    Scheduler,
    compared,
)
from spillway.experiments.trials.subject import SOCKET, Command
from spillway.schedulers.policies import POLICIES

SUBJECT = "slurm"
"""First word of the command line, in place of a command that starts a scheduler."""

STARVED = 1
"""Exit code if one scheduler was tested and the large job waited for later ones."""

_TITLE = "Starvation for a second resource"

_PYBATSIM = ("easyBackfill", "schedEasySjfBackfill")
"""Schedulers of pybatsim, played if it is installed."""

Found = Mapping[str, Mapping[str, LargeJobDelay | str]]
"""Start and delay of the large job, or a reason, by scheduler and case."""


def command(options: argparse.Namespace) -> int:
    """Play the cases, print and write the report; return the exit code."""
    kind = _kind(options.figure) if options.figure is not None else ""
    schedulers = _schedulers(options)
    found = compared(schedulers)
    table = Table(["scheduler", *(case.name for case in CASES)], _rows(found))
    reasons = _reasons(found)
    notes: Sequence[Block] = [Listing(reasons)] if reasons else []
    members = {
        name: {case: delay._asdict() if isinstance(delay, LargeJobDelay) else delay for case, delay in row.items()}
        for name, row in found.items()
    }
    deliver(options, [Heading(_TITLE, 1), table, *map(Paragraph, sentences(found)), *notes], members)
    if options.figure is not None:
        draw(found, options.figure.with_suffix(""), kind)
    return STARVED if len(schedulers) == 1 and any(map(_starves, found[schedulers[0].name].values())) else 0


def _schedulers(options: argparse.Namespace) -> list[Scheduler]:
    """Schedulers that the options name; by default all."""
    words = options.words[1:]
    if words and options.policy:
        raise SpecError("expected either --policy NAME or a command after --, got both")
    real = _slurm(options)
    if words:
        outside = Command(tuple(words), options.silence, options.batsim)
        greet(outside)
        return [*real, OutsideScheduler(outside.name, outside)]
    if options.policy and options.policy != "all":
        one = BuiltinPolicy.of(options.policy)
        one.check()
        return [*real, one]
    named = {variant.name for variant in VARIANTS}
    ours = [*VARIANTS, *(BuiltinPolicy.of(name) for name in POLICIES if name not in named)]
    return [*real, *ours, *_pybatsim(options.silence)]


def _slurm(options: argparse.Namespace) -> list[Scheduler]:
    """A real Slurm, run now or recorded; empty if one other scheduler is tested and Slurm is not requested."""
    if options.live and options.replay is not None:
        raise SpecError("--live and --replay exclude each other: one runs a Slurm, the other reads recordings of one")
    if options.record is not None and not options.live:
        raise SpecError("--record needs --live: it keeps recordings of that run of Slurm")
    if options.replay is not None:
        return [*kept(options.replay)]
    if not options.live:
        return [] if options.words[1:] or options.policy not in (None, "all") else [*kept(SHIPPED)]
    try:
        found = run_all(lambda line: tell(line, to=sys.stderr))
    except MissingRequirement as missing:
        tell(f"conformance slurm: no Slurm can be run here, recordings are shown: {missing}", to=sys.stderr)
        return [*kept(SHIPPED)]
    if options.record is not None:
        keep(found, options.record)
    return [recorded(way, recordings) for way, recordings in found.items()]


def _pybatsim(silence_s: float) -> Iterable[Scheduler]:
    """Schedulers of pybatsim, if it is installed."""
    package = importlib.util.find_spec("batsim")
    if package is None or package.origin is None:
        tell("pybatsim's schedulers are left out: pybatsim is not installed", to=sys.stderr)
        return
    there = 'cd "$(dirname "${0#ipc://}")" && exec "$@"'  # pybatsim leaves files in its working folder
    for name in _PYBATSIM:  # by path: a folder 'schedulers' here would come before pybatsim's
        path = str(Path(package.origin).parents[1] / "schedulers" / f"{name}.py")
        launcher = f"{sys.executable} -m batsim.cmds.launcher {path} -t 30000 -v error -s"
        words = ["sh", "-c", there, SOCKET, *launcher.split(), SOCKET]
        yield OutsideScheduler(f"pybatsim {name}", Command(words, silence_s))


def _starves(one: LargeJobDelay | str) -> bool:
    return isinstance(one, LargeJobDelay) and one.delayed


def _rows(found: Found) -> list[list[str]]:
    """A row for each scheduler with which a case was played: start and delay of the large job."""
    return [
        [name, *(str(delay) if isinstance(delay, LargeJobDelay) else "not played" for delay in row.values())]
        for name, row in played(found).items()
    ]


def played(found: Found) -> Found:
    """The schedulers with which a case was played."""
    return {name: row for name, row in found.items() if any(isinstance(delay, LargeJobDelay) for delay in row.values())}


def _reasons(found: Found) -> list[str]:
    """Reasons why cases were not played: a line for schedulers that share all their reasons."""
    reasons: dict[str, dict[str, None]] = {}
    for name, row in found.items():
        for delay in row.values():
            if isinstance(delay, str):
                reasons.setdefault(delay, {})[name] = None
    shared: dict[tuple[str, ...], list[str]] = {}
    for reason, names in reasons.items():
        shared.setdefault(tuple(names), []).append(reason)
    return [f"Not played: {', '.join(names)}: {'; '.join(whys)}." for names, whys in shared.items()]


def sentences(found: Found) -> list[str]:
    """A sentence per case: needs of the large job, schedulers under which it waits for later jobs, and its delays."""
    lines = []
    for case in CASES:
        if not any(isinstance(row[case.name], LargeJobDelay) for row in found.values()):
            continue
        alike: dict[str, list[str]] = {}
        for name, row in found.items():
            if _starves(one := row[case.name]):
                alike.setdefault(str(one), []).append(name)
        delayed = "; ".join(f"{words} under {', '.join(names)}" for words, names in alike.items())
        line = f"{case.name}: job {LARGE}, first in the queue, needs {case.words}. Where its reservation covers them, "
        line += f"it starts at {case.covered_s:.0f} s. "
        lines.append(
            line + (f"It starts later at {delayed}." if delayed else "It starts later under no scheduler here.")
        )
    return lines


def _kind(path: Path) -> str:
    """Kind of a picture by the suffix of its name."""
    from spillway.analysis.plots.style import FORMATS

    kind = path.suffix.lstrip(".")
    if kind not in FORMATS:
        raise SpecError(f"--figure: expected a file that ends in .{', .'.join(FORMATS)}, got {path}")
    return kind


def draw(found: Found, stem: Path, kind: str) -> None:
    """Draw one figure: the wait of the large job for each case and scheduler, measured ones apart."""
    from matplotlib.patches import Patch

    from spillway.analysis.plots.intervals import BEYOND, WITHIN, excess_bars
    from spillway.analysis.plots.style import drawing, panels, plain, save

    shown = played(found)
    measured = sum(name.startswith(MEASURED) for name in shown)
    with drawing():
        axes = panels(1, len(CASES), width=11.0, height=2.1 + 0.24 * len(shown))
        figure = axes[0].get_figure()
        assert figure is not None
        for place, (case, ax) in enumerate(zip(CASES, axes, strict=True)):
            values = {
                plain(name): one.start_s if isinstance(one := row[case.name], LargeJobDelay) else math.nan
                for name, row in shown.items()
            }
            excess_bars(values, case.covered_s, ax, title=case.name, least=DELAYED_S, above=measured)
            ax.set_xlabel(f"{ax.get_xlabel()} until the large job starts")
            if place:
                ax.set_yticklabels([])
        words = "; above the line: a real Slurm, measured" if measured else ""
        figure.suptitle(f"{_TITLE}: wait of the job that needs all of a pool{words}")
        parts = [Patch(color=WITHIN, label="up to its start where reservations cover the pool (dashed)")]
        parts.append(Patch(color=BEYOND, label="beyond it: later jobs pass the large one"))
        figure.legend(handles=parts, loc="outside lower center", ncols=2, frameon=False)
        save(axes[0], stem, (kind,))
