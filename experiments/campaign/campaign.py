"""A campaign from its description to its folder: inputs, runs, tables, figures."""

from __future__ import annotations

import csv
import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.markup import escape

from spillway.analysis.document.terminal import say
from spillway.analysis.tables.campaign import ASSUMPTIONS
from spillway.base import durable
from spillway.base.plugins import loading
from spillway.experiments.campaign.folder import places, reuse, summary
from spillway.experiments.campaign.folder.lock import results_folder
from spillway.experiments.campaign.folder.paper import paper_of
from spillway.experiments.campaign.folder.summary import Row
from spillway.experiments.campaign.grid import expand, refuse_too_many
from spillway.experiments.campaign.inputs import machines
from spillway.experiments.campaign.inputs.input_files import Inputs
from spillway.experiments.campaign.inputs.shakes import SHAKES, Shaken, seal_shaken, shaken_runs
from spillway.experiments.campaign.workers.pool import Executor
from spillway.experiments.campaign.workers.runner import Outcome, run_all
from spillway.experiments.run import folders, manifest, provenance, sessions
from spillway.experiments.run.batsim import simulator_command
from spillway.experiments.run.errors import RunFailed, SpecError
from spillway.experiments.run.spec import AUTO, Campaign, Conduct, RunSpec, Task
from spillway.schedulers.model.site import Site, cpus_of_nodes, parse_site
from spillway.schedulers.model.site_parts import NO_BUFFERS
from spillway.schedulers.policies.replay import SITE_WAIT
from spillway.schedulers.site_file import played_of


class Conclusion(Protocol):
    """Reads an answer from the runs of several grids."""

    @property
    def shakes(self) -> int:
        """Repetitions of each run with shaken input (:mod:`spillway.experiments.campaign.inputs.shakes`)."""

    def __call__(
        self, grids: Sequence[Sequence[RunSpec]], shaken: Shaken, root: Path, console: Console
    ) -> Sequence[Path]:
        """Evaluate the runs of each grid and the shaken ones in a folder; print, and return the files written."""


_ENVIRONMENT = "environment.txt"
"""File of a campaign with the packages that were installed when its tables were written."""

FAILURES = 1
"""Exit code when a run failed."""


def run_grids(
    campaigns: Sequence[Campaign],
    root: Path,
    executor: Executor[Task],
    console: Console,
    conduct: Conduct | None = None,
    conclude: Conclusion | None = None,
) -> int:
    """Run several grids in one folder and show their results; return the exit code.

    Runs that are in more than one of them are run once. Runs that other code made are kept and marked, or done again.

    Parameters
    ----------
    campaigns
        At least one. The first decides on engine, events, figures and everything else that is not an axis of a grid.
    conduct
        Which runs are repeated, how many there may be, which logs are refused, and whether assumptions are printed
        (by default they are).
    conclude
        Gets the runs of each grid when all have finished, and writes further files in the folder.

    Raises
    ------
    SpecError, WorkloadError, PlatformError
        The description or an input is wrong, or another command writes the folder; nothing has run then.
    Interruption
        The user stopped it.
    """
    if place := loading():  # each of its runs would load it, and play again
        raise SpecError(
            f"{place} is being loaded for a class in it and begins to play: put its calls below "
            "if __name__ == '__main__':"
        )
    paper_of(campaigns[0])  # its errors come before any run
    with results_folder(root):
        campaigns = _with_sites(_with_site_waits(campaigns))
        return _run_grids(campaigns, root, executor, console, conduct or Conduct(notes=True), conclude)


def _run_grids(
    campaigns: Sequence[Campaign],
    root: Path,
    executor: Executor[Task],
    console: Console,
    conduct: Conduct,
    conclude: Conclusion | None,
) -> int:
    campaign, count = campaigns[0], conclude.shakes if conclude is not None else 0
    simulator = simulator_command(campaign)
    inputs, grids, runs, shaken = _prepare(campaigns, root, console, conduct, count)
    tasks = [
        Task(run, root, campaign, simulator, inputs.assumed(run.workload, run.platform, run.policy)) for run in runs
    ]
    quiet = dataclasses.replace(campaign, explain=False, uncontended=False)
    tasks += [Task(run, root / SHAKES, quiet, simulator) for repeated in shaken.values() for run in repeated]
    jobs = {play.id: inputs.jobs(run.workload) for run in runs for play in (run, *shaken.get(run.id, ()))}
    outcome = run_all(tasks, executor, console, lambda run: jobs[run.id], rerun=conduct.rerun)
    if shaken and not outcome.failed:
        seal_shaken(root, shaken)
    for warning in warned(runs, root):
        inputs.note(warning, folded=conclude is not None)
    rows = summary.collect(runs, root, campaign)
    if rows and conclude is None:
        summary.print_tables(rows, console)
    unwritten: OSError | None = None
    try:
        further = conclude(grids, shaken, root, console) if conclude is not None and not outcome.failed else []
        _write_results(campaign, runs, grids[0], rows, inputs.notes, root, console, further)
    except OSError as error:
        unwritten = error
    _remind(rows, root, console)
    reuse.remind(outcome.old, console)
    code = _report_failures(outcome, root, console)
    if unwritten is not None:
        raise RunFailed(f"the runs are kept, but not their tables: {unwritten}")
    return code


def _prepare(
    campaigns: Sequence[Campaign], root: Path, console: Console, conduct: Conduct, count: int
) -> tuple[Inputs, Sequence[Sequence[RunSpec]], tuple[RunSpec, ...], Shaken]:
    """Prepare the inputs of all runs in a folder, which then holds this comparison; ``count``: repetitions of each.

    Return the inputs, the runs of each grid, all runs, and their repetitions with shaken input.
    """
    workloads = places.check(root, campaigns[0])

    def note(text: str) -> None:
        if conduct.notes or text not in inputs.folded:
            say(console, f"note: {text}")

    below = root / SHAKES
    with folders.preparing(root, root / folders.INPUTS, below, below / folders.INPUTS):
        inputs = Inputs(root, note, refuse=not conduct.force)
        grids = [_runs_of(campaign, inputs, conduct.max_runs) for campaign in campaigns]
        runs = _checked(grids, inputs)
        refuse_too_many(len(runs) * (1 + count), conduct.max_runs, f"campaign {campaigns[0].name!r}")
        shaken = shaken_runs(runs, root, count) if count else {}
        places.claim(root, workloads)
    if (folded := len(inputs.folded)) and not conduct.notes:
        number, verb, pronoun = ("1 note", "is", "it") if folded == 1 else (f"{folded} notes", "are", "them")
        say(console, f"note: {number} on machine and jobs {verb} in {root / ASSUMPTIONS} (--notes prints {pronoun})")
    return inputs, grids, runs, shaken


def _checked(grids: Sequence[Sequence[RunSpec]], inputs: Inputs) -> tuple[RunSpec, ...]:
    """The runs of all grids, each once, on inputs that state what they need."""
    runs = tuple({run.id: run for grid in grids for run in grid}.values())
    for run in runs:
        inputs.check_playable(run)
        inputs.check_described(run.workload, run.model)
        inputs.check_stated(run.workload, run.policy)
        inputs.check_site(run.workload, run.platform, run.policy)
    return runs


def _runs_of(campaign: Campaign, inputs: Inputs, max_runs: int) -> tuple[RunSpec, ...]:
    """Prepare the inputs of a grid, and list its runs."""
    pairs = {
        (model.label, seed): inputs.pairs(campaign.workloads, campaign.platforms, model, seed)
        for model, seed in itertools.product(campaign.models, campaign.seeds)
    }
    events = inputs.events_of(campaign.events)
    return expand(campaign, pairs, max_runs, events, inputs.begins_s, inputs.as_played)


def _with_site_waits(campaigns: Sequence[Campaign]) -> Sequence[Campaign]:
    """The campaigns, with the waiting times of logs converted, too, if one of the policies needs those."""
    if not any(SITE_WAIT in sessions.needed_fields(spec) for campaign in campaigns for spec in campaign.policies):
        return campaigns
    return [
        dataclasses.replace(
            campaign,
            workloads=tuple(
                dataclasses.replace(spec, convert={"site_wait": True} | spec.convert) for spec in campaign.workloads
            ),
        )
        for campaign in campaigns
    ]


def _with_sites(campaigns: Sequence[Campaign]) -> Sequence[Campaign]:
    """Campaigns with a site: on its machine unless a platform is named, logs with the fields for its scheduler.

    Raises
    ------
    SpecError
        Policies have sites with different numbers of nodes.
    """
    found = []
    for campaign in campaigns:
        sites = [parse_site(text) for text in sorted({spec.site for spec in campaign.policies}) if text]
        if sites:
            tables = sorted(set().union(*map(played_of, sites)))
            kept: dict[str, Any] = {"site_fields": True, "site_tables": tuple(tables)}
            if all(site.buffers.kind == NO_BUFFERS for site in sites):
                kept["burst_buffers"] = None
            if len(cpus := {count for site in sites for count in cpus_of_nodes(site, site.nodes)}) == 1:
                kept["site_cpus"] = cpus.pop()
            nodes = _site_nodes(campaign, sites)
            campaign = dataclasses.replace(
                campaign,
                platforms=tuple(machines.of_site(spec, nodes) for spec in campaign.platforms),
                workloads=tuple(dataclasses.replace(spec, convert=kept | spec.convert) for spec in campaign.workloads),
            )
        found.append(campaign)
    return found


def _site_nodes(campaign: Campaign, sites: Sequence[Site]) -> int:
    """Nodes of the sites of a campaign; 0 if no site states them."""
    counts = {site.nodes for site in sites} - {0}
    if len(counts) > 1 and any(spec.source.partition(",")[0] == AUTO for spec in campaign.platforms):
        numbers = " and ".join(map(str, sorted(counts)))
        raise SpecError(f"sites of {numbers} nodes in one campaign need the name of a platform for each: use two")
    return min(counts, default=0)


def warned(runs: Sequence[RunSpec], root: Path) -> list[str]:
    """Warnings at the end of the kept runs, a line each."""
    return [
        f"{run.policy.label} on {run.workload.name}, {run.platform.name}, seed {run.seed}: {warning}"
        for run in runs
        for warning in folders.read_json(root / run.id / folders.RUN_FILE).get("warnings", ())
    ]


def _write_results(
    campaign: Campaign,
    runs: Sequence[RunSpec],
    unchanged: Sequence[RunSpec],
    rows: Sequence[summary.Row],
    assumed: Sequence[str],
    root: Path,
    console: Console,
    further: Sequence[Path] = (),
) -> None:
    """Write tables, assumptions, figures and report, and last the manifest of all of them."""
    manifest.unseal(root)
    paper = paper_of(campaign)
    table = summary.write_tables(rows, root)
    durable.write_text(root / ASSUMPTIONS, "".join(f"{line}\n" for line in assumed))
    durable.write_text(root / _ENVIRONMENT, provenance.environment())
    written = [table, table.with_name(summary.RESULTS), root / ASSUMPTIONS, root / _ENVIRONMENT, root / places.RECORD]
    written += further
    written += summary.write_further(rows, root, paper.tables)
    if any(run.policy.label == sessions.REPLAY for run in unchanged):
        from spillway.experiments.campaign.folder import site_waits

        written += site_waits.write(unchanged, root, console)
    if rows and campaign.plots:
        from spillway.analysis.plots.style import drawing
        from spillway.analysis.report.build import build_report
        from spillway.experiments.campaign.folder import figures

        say(console, "drawing figures and the report")
        with drawing(paper.width_mm, paper.style, paper.figures):
            drawn = list(figures.draw(runs, root))
        say(console, f"figures: {len(drawn)} in {root / 'plots'}")
        written += [path for paths in drawn for path in paths]
        report = build_report(root)
        say(console, f"report: {report}")
        written.append(report)
    gone = places.clear(root, written)
    if gone:
        shown = f"{gone[0]} and {len(gone) - 1} more" if len(gone) > 1 else gone[0]
        say(console, f"note: removed outdated files: {shown}")
    say(console, f"table: {table}")
    manifest.seal(root, [str(path.relative_to(root)) for path in written], [str(row["run"]) for row in rows])


def _report_failures(outcome: Outcome, root: Path, console: Console) -> int:
    for run, cause in outcome.failed.items():
        console.print(f"[bold red]failed[/] {escape(run)}: {escape(cause)} (see {root / run})", soft_wrap=True)
    return FAILURES if outcome.failed else 0


def _remind(rows: Sequence[Row], root: Path, console: Console) -> None:
    """Print below the results the runs that have rejected every job, and the most frequent reason of each.

    Such a run has finished: rejections by a machine or a policy are its result, so the exit code stays 0.
    """
    for row in rows:
        if row["jobs"] or not row["rejected"]:
            continue
        reasons = _reasons(root / row["run"] / "rejections.csv")
        (reason, count), others = reasons.most_common(1)[0], len(reasons) - 1
        more = f" ({count} times; other reasons: {others})" if others else ""
        text = f"note: {row['run']}: all {row['rejected']:.0f} jobs were rejected: {reason}{more}"
        say(console, text)


def _reasons(path: Path) -> Counter[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return Counter(row["reason"] for row in csv.DictReader(file))
