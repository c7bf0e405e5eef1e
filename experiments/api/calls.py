"""The commands as calls: comparisons, what-if questions, studies and explanations."""

from __future__ import annotations

import io
import signal
import tempfile
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.base.arguments import SIGNALLED
from spillway.base.errors import OptionError, shown
from spillway.base.options import build, describe, parse, unknown
from spillway.experiments.api.logs import Log, read
from spillway.experiments.api.machine import spec_of
from spillway.experiments.api.policies import Policies, in_a_file, settings_of, specs_of
from spillway.experiments.api.results import Results
from spillway.experiments.run.errors import Interruption, RunFailed
from spillway.experiments.run.spec import Campaign, Conduct, Playing

if TYPE_CHECKING:
    from spillway.experiments.campaign.inputs.machines import Machine
    from spillway.experiments.campaign.whatif.questions import Question


def compare(
    logs: str | Path | Log | Sequence[str | Path | Log],
    policies: Policies = (),
    *,
    machine: str | Machine = "",
    models: str | type | Sequence[str | type] = (),
    seeds: int | Sequence[int] = 1,
    settings: Mapping[str, Any] | None = None,
    site: str | Path = "",
    figures: bool | str = False,
    folder: str | Path | None = None,
    progress: bool = False,
    **how: Any,
) -> Results:
    """Play policies on logs: every log with every policy, model and seed.

    Parameters
    ----------
    logs
        One or several, as :func:`read` returns them or as the command line takes them.
    policies
        Names with their options (``"easy:depth=2"``), ``FILE.py:CLASS``, classes, their instances, or results of
        :func:`policy`; in a mapping by the labels that they have in the results; default: the five of the demo.
    machine
        A result of :func:`machine`, a built-in name, description (``.toml``), SimGrid XML,
        ``nodes:240,burst_buffer_total=80TB``, or ``auto,burst_buffer_total=80TB``; default: the nodes that the log
        states, else the most in use, and the burst buffers that its jobs request.
    models
        Job models with their options, or classes of one's own; default: as the policies need.
    seeds
        Number of seeds from 0, or the seeds themselves.
    settings
        Settings of the session by name (``bb_life="slurm"``), as ``spillway run --help`` lists them.
    site
        File of the site (``spillway site import``): its partitions, shares, weights and pools; its number of nodes is
        the machine's where no ``machine`` is given.
    figures
        Whether figures and the report are made, or the kinds of files of each figure (``"pdf,svg"``).
    folder
        Folder of the results, which the next call continues; default: a temporary folder.
    progress
        Whether progress and notes are shown; else a call is quiet.
    **how
        Options of ``spillway run`` by name: ``engine="fixed"``, ``events="failures:..."``, ``tau_s=60``,
        ``transport="bytes"``, ``workers=4``, ``dask="tcp://host:8786"``, ``force=True`` and others
        (:class:`spillway.experiments.run.spec.Playing`, :class:`spillway.experiments.run.spec.Conduct`).

    Raises
    ------
    SpecError, OptionError, WorkloadError, PlatformError
        A name, option or input is wrong; nothing has run then.
    RunFailed
        Runs failed; names the first cause.
    KeyboardInterrupt
        Ctrl-C; finished runs stay in ``folder``.
    """
    from spillway.experiments.campaign.comparison import comparison

    playing, conduct = _how(how, figures)
    given = list(logs) if isinstance(logs, Iterable) and not isinstance(logs, str | bytes) else [logs]
    drawn = _seeds_of(seeds)
    if not given or not drawn:
        raise OptionError(f"compare needs at least one log and one seed, got {len(given)} and {len(drawn)}")
    root = _root(folder)
    campaign = comparison(
        "compare",
        playing,
        workloads=(read(source).spec() for source in given),
        platform=spec_of(machine),
        policies=specs_of(policies, settings_of(settings, site), root),
        models=_models(models, root),
        seeds=drawn,
    )
    return _played([campaign], root, conduct, progress)


def whatif(
    log: str | Path | Log,
    *changes: str,
    machine: str | Machine = "",
    policy: str | type | object = "easy",
    model: str | type = "",
    settings: Mapping[str, Any] | None = None,
    site: str | Path = "",
    seeds: int | None = None,
    shakes: int | None = None,
    together: bool = False,
    figures: bool | str = False,
    folder: str | Path | None = None,
    progress: bool = False,
    **how: Any,
) -> Results:
    """Ask a what-if question: one change at a time against the machine, the jobs and the policy as they are.

    Parameters
    ----------
    changes
        As ``spillway whatif --set`` takes them: ``"storage.capacity=x1.2"``, ``"policy=plan"``, ``"load=x1.1"``.
    shakes
        Repetitions of each run with shaken input; default: 10 with fewer than five seeds, else 0. Bands are over these;
        too few for the number of comparisons are refused.
    together
        Whether all of them are tried at once, too.

    The other parameters are those of :func:`compare`.

    Raises
    ------
    SpecError, OptionError, WorkloadError, RunFailed
        As :func:`compare`.
    """
    from spillway.experiments.campaign.comparison import comparison
    from spillway.experiments.campaign.whatif.questions import question_of

    playing, conduct = _how(how, figures)
    root = _root(folder)
    base = comparison(
        "whatif",
        playing,
        workloads=(read(log).spec(),),
        platform=spec_of(machine),
        policies=specs_of([policy], settings_of(settings, site), root),
        models=_models(model, root) if model else [],
        seeds=(0,),
    )
    question = question_of(
        base,
        _texts("changes", changes),
        seeds=None if seeds is None else _whole("seeds", seeds, 1),
        shakes=None if shakes is None else _whole("shakes", shakes, 0),
        together=together,
        force=conduct.force,
    )
    return _played(question.grids, root, conduct, progress, question)


def study(name: str, *options: str, folder: str | Path | None = None) -> Results:
    """Repeat a paper's evaluation (``spillway study NAME``); ``options`` as on the command line (``"--quick"``).

    Raises
    ------
    RunFailed
        It ended with another exit code than 0.
    """
    from spillway.experiments.cli import main

    root = _root(folder)
    code = main(["study", name, *options, "--out", str(root)])
    if code:
        raise RunFailed(f"spillway study {name} ended with exit code {code}; its lines say why")
    return Results(root)


def explain(run: Results | str | Path, job: str | int, *, trust: bool = False, **chosen: Any) -> list[str]:
    """Give the reasons why a job waited, in lines (``spillway explain``); a run without reasons is repeated.

    Parameters
    ----------
    run
        Results, or a folder: that of a run, or with ``chosen`` that of results.
    job
        Its number, or ``w0!12``.
    trust
        Whether policies from outside (``FILE.py:CLASS``) that a folder names may run; those of results do.
    **chosen
        Values that only one run has (``policy="easy"``, ``seed=0``).

    Raises
    ------
    SpecError, OptionError, AnalysisError
        There is no such run, it cannot be repeated, or it has no such job.
    """
    from spillway.experiments.run.explain import explain as told

    if isinstance(run, Results):
        return run.explain(job, trust=trust, **chosen)
    return told(Results(Path(run)).run_folder(**chosen) if chosen else Path(run), str(job), trust=trust)


def _seeds_of(seeds: int | Sequence[int]) -> tuple[int, ...]:
    """The seeds, from their number or from a list."""
    if isinstance(seeds, str | Mapping | Set) or not isinstance(seeds, Iterable):
        return tuple(range(_whole("seeds", seeds)))
    return tuple(_whole("seeds", seed, 0) for seed in seeds)


def _texts(name: str, given: str | Sequence[str]) -> Sequence[str]:
    """A text, or several, as a list of texts."""
    several = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    if wrong := [item for item in several if not isinstance(item, str)]:
        raise OptionError(f"{name}: expected texts, got {shown(wrong[0])}")
    return several


def _models(given: Any, root: Path) -> Sequence[str]:
    """Names of job models; of a class the file that has it."""
    several = [given] if isinstance(given, str | type) else given
    several = list(several) if isinstance(several, Iterable) else [several]
    names = [in_a_file(item, root, "job model") if isinstance(item, type) else item for item in several]
    return _texts("models", names)


def _whole(name: str, value: Any, least: int | None = None) -> int:
    if isinstance(value, Integral):  # NumPy's, too
        value = value if isinstance(value, bool) else int(value)
    if not isinstance(value, int) or isinstance(value, bool) or (least is not None and value < least):
        bound = "" if least is None else f" of at least {least}"
        several = " or a list of them" if name == "seeds" else ""
        raise OptionError(f"{name}: expected a whole number{bound}{several}, got {shown(value)}")
    return value


def _root(folder: str | Path | None) -> Path:
    if folder is not None and not isinstance(folder, str | PathLike):
        raise OptionError(f"folder: expected a path, got {shown(folder)}")
    return Path(tempfile.mkdtemp(prefix="spillway-")) / "results" if folder is None else Path(folder)


def _played(
    campaigns: Sequence[Campaign],
    root: Path,
    conduct: Conduct,
    progress: bool,
    question: Question | None = None,
) -> Results:
    from spillway.analysis.document.terminal import WIDE, Terminal
    from spillway.experiments.campaign.campaign import run_grids
    from spillway.experiments.campaign.workers.progress import NotebookConsole
    from spillway.experiments.cli.arguments import executor_of

    console = Terminal() if progress else Terminal(file=io.StringIO(), width=WIDE)
    console = NotebookConsole() if console.is_jupyter else console
    conclude = None if question is None else question.answer
    try:
        code = run_grids(campaigns, root, executor_of(conduct), console, replace(conduct, notes=True), conclude)
    except Interruption as stop:
        if stop.exit_code != SIGNALLED + signal.SIGINT:
            raise
        raise KeyboardInterrupt(str(stop)) from None  # what notebooks and scripts expect of Ctrl-C
    if code:
        kept = console.file.getvalue() if isinstance(console.file, io.StringIO) else ""
        said = [line for line in kept.splitlines() if line.startswith("failed")]
        raise RunFailed(said[0] if said else f"runs failed: their folders below {root} have the causes")
    text = root / "whatif.txt"
    return Results(
        root, tuple(text.read_text(encoding="utf-8").splitlines()) if question is not None else (), trusted=True
    )


def _how(given: Mapping[str, Any], figures: bool | str) -> tuple[dict[str, Any], Conduct]:
    """Values of :class:`Playing`, and the conduct, from options by name; raise :class:`OptionError` for a wrong one."""
    own, further = ({info.name for info in describe(kind)} for kind in (Playing, Conduct))
    known = sorted((own | further) - {"plots"})
    for name in given.keys() - set(known):
        raise OptionError(unknown(name, known))
    playing = {name: parse(info, given[name], typed=True) for info in describe(Playing) if (name := info.name) in given}
    playing |= {"plots": bool(figures)} | ({"figures": figures} if isinstance(figures, str) else {})
    return playing, build(Conduct, {name: value for name, value in given.items() if name in further}, typed=True)
