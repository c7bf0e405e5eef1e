"""Better than published? Our plan policies against the best published one, on the same parts and with the same
information."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table as ConsoleTable

from analysis.compare import Interval, Paired, compare_pairs
from analysis.tables import Floats
from experiments import folders, policies, sessions
from experiments.inputs import Inputs
from experiments.spec import PolicySpec, RunSpec
from experiments.studies.document import Block, Heading, Paragraph, Table, to_csv, to_html, to_markdown
from experiments.thesis import campaign
from experiments.thesis.campaign import MODELS, SEEDS, report_failures
from experiments.thesis.ceiling import CLAIRVOYANT, Battle, with_runtimes
from experiments.thesis.figures import MODEL_NAMES
from experiments.thesis.holdout import parse_holdout, prepare_holdout
from experiments.thesis.inputs import PARTS, find_inputs
from experiments.thesis.models import Model
from experiments.thesis.results import Results
from experiments.thesis.variants import CONTENDERS, TO_BEAT
from schedulers.options import show, split_assignments
from schedulers.policies import POLICIES

KTH = "KTH-SP2"
MEASURES = {
    "mean_waiting_time_s": "mean wait",
    "mean_bounded_slowdown": "bounded slowdown",
    "p99_waiting_time_s": "p99 wait",
    "max_waiting_time_s": "longest wait",
}

NAMES = ("log", "model", "policy", "baseline", "measure")
SEED_RANGE = ("least_by_seed", "largest_by_seed")
SHOWN = ("policy", "measure", "policy's mean", "baseline's mean", "ratio", "95 % interval", "by seeds", "better in")


@dataclass(frozen=True)
class Comparison:
    """One policy against the one to beat, on one log and model, in one measure.

    Attributes
    ----------
    log, model, policy, baseline, measure
        What is compared.
    means
        Mean over parts and seeds of the policy and of the baseline.
    paired
        Over the parts, each part's value being the mean over the seeds; its ratio has the bootstrap interval.
    seeds
        Least and largest ratio of the means over the parts for one seed of ours and one of the baseline's.
    """

    log: str
    model: Model
    policy: str
    baseline: str
    measure: str
    means: tuple[float, float]
    paired: Paired
    seeds: tuple[float, float]


def run_beyond(options: argparse.Namespace, root: Path, console: Console) -> int:
    """Run and compare; return the exit code.

    Raises
    ------
    SpecError, OptionError, WorkloadError, PlatformError
        Wrong options or inputs; nothing has run then.
    Interrupted
        The user stopped it; what is finished stays.
    """
    folders.make_folder(root)
    contenders = tuple(parse_contender(text) for text in options.policy) or CONTENDERS
    seeds = tuple(range(options.seeds or SEEDS))
    battles = list(_battles(options, root))
    inputs = Inputs(root, campaign.teller(console))
    runs: list[RunSpec] = []
    for battle in battles:
        specs = [TO_BEAT, *contenders]
        runs += campaign.cross(inputs, battle.workloads, [battle.platform], battle.model, specs, seeds)
    jobs = {run.workload.path: inputs.jobs(run.workload) for run in runs}
    outcome = campaign.run(runs, jobs, root, options, console)
    if options.ceiling:
        known = list(_clairvoyant(battles, inputs, Results(runs, root), seeds))
        jobs |= {run.workload.path: inputs.jobs(run.workload) for run in known}
        told_runtimes = campaign.run(known, jobs, root, options, console)
        outcome.failed.update(told_runtimes.failed)
        outcome.old += told_runtimes.old
        contenders, runs = (*contenders, *CLAIRVOYANT), [*runs, *known]
    results = Results(runs, root)
    comparisons = [found for battle in battles for spec in contenders for found in compare(results, battle, spec.label)]
    blocks = list(_blocks(comparisons, battles, contenders, seeds))
    folders.write_text(root / "BEYOND.md", to_markdown(blocks, root))
    folders.write_text(root / "beyond.html", to_html(blocks))
    folders.write_text(root / "beyond.csv", _csv(comparisons))
    for block in blocks:
        if isinstance(block, Table):
            console.print(_console_table(block))
        elif isinstance(block, Heading):
            console.print(block.text, style="bold", highlight=False)
    for name in ("BEYOND.md", "beyond.html", "beyond.csv"):
        console.print(f"report: {root / name}", markup=False, highlight=False, soft_wrap=True)
    return report_failures(outcome, root, console)


def _clairvoyant(
    battles: Sequence[Battle], inputs: Inputs, results: Results, seeds: Sequence[int]
) -> Iterator[RunSpec]:
    """List the runs of policies with known runtimes (:mod:`experiments.thesis.ceiling`)."""
    for battle in battles:
        workloads = with_runtimes(battle, inputs, results, results.root)
        yield from campaign.cross(inputs, workloads, [battle.platform], battle.model, CLAIRVOYANT, seeds)


def parse_contender(text: str) -> PolicySpec:
    """Read ``NAME[:KEY=VALUE,...]``; a key may be an option of the policy or a setting of the session."""
    name, _, rest = text.partition(":")
    pairs = [piece for piece in rest.split(",") if piece]
    ours = [piece for piece in pairs if piece.partition("=")[0].replace("-", "_") in sessions.SETTINGS]
    plain = ",".join(piece for piece in pairs if piece not in ours)
    spec = policies.parse_policy(f"{name}:{plain}" if plain else name)
    return sessions.typed(msgspec.structs.replace(spec, session=dict(split_assignments(ours)), label=text))


def compare(results: Results, battle: Battle, policy: str) -> list[Comparison]:
    """Compare a policy with the one to beat on the parts on which both have finished with every seed."""
    model, baseline = battle.model.value, TO_BEAT.label
    names = [spec.name for spec in battle.workloads]
    found = []
    for measure in MEASURES:
        pairs = [
            (results.values(model, name, policy, measure), results.values(model, name, baseline, measure))
            for name in names
        ]
        most = max((min(len(ours), len(theirs)) for ours, theirs in pairs), default=0)
        whole = [(ours, theirs) for ours, theirs in pairs if most and len(ours) == len(theirs) == most]
        if not whole:
            continue
        ours = np.array([values for values, _ in whole])
        theirs = np.array([values for _, values in whole])
        by_seed = _ratios_by_seed(ours, theirs)
        found.append(
            Comparison(
                battle.log,
                battle.model,
                policy,
                baseline,
                measure,
                (float(ours.mean()), float(theirs.mean())),
                compare_pairs(ours.mean(axis=1), theirs.mean(axis=1)),
                (min(by_seed), max(by_seed)),
            )
        )
    return found


def _ratios_by_seed(ours: Floats, theirs: Floats) -> list[float]:
    """Ratio of the means over the parts, for every pair of a seed of ours and one of theirs."""
    return [float(mine / yours) for mine, yours in itertools.product(ours.mean(axis=0), theirs.mean(axis=0)) if yours]


def _battles(options: argparse.Namespace, root: Path) -> Iterator[Battle]:
    """The thesis's parts (with ``--beyond``), then the other logs."""
    numbers = options.parts if options.parts is not None else tuple(range(PARTS))
    for model in MODELS[options.model]:
        if options.beyond:
            sources = find_inputs(model, numbers, options.data, root).parts
            yield Battle(KTH, model, tuple(sources[number] for number in numbers), campaign.MACHINE)
    for words in options.holdout:
        holdout = parse_holdout(words)
        for model in MODELS[options.model]:
            workloads, platform = prepare_holdout(holdout, model, root)
            yield Battle(holdout.name, model, tuple(workloads), platform)


def _blocks(
    comparisons: Sequence[Comparison],
    battles: Sequence[Battle],
    contenders: Sequence[PolicySpec],
    seeds: Sequence[int],
) -> Iterator[Block]:
    yield Heading("Better than published?", 1)
    named = "; ".join(f"`{spec.label}` is {_described(spec)}" for spec in (TO_BEAT, *contenders))
    yield Paragraph(
        f"Ratios of the means over the parts, policy over `{TO_BEAT.label}` (the best published schedule, to the "
        f"letter): below 1 is better. Seeds {', '.join(map(str, seeds))} on both sides, averaged within each part; "
        "95 % bootstrap intervals over the parts, policy and baseline resampled together. All see the same: submitted "
        "jobs and their walltimes; but for those called 'runtimes known', which show what predictions could gain at "
        "most."
    )
    yield Paragraph(f"{named}.")
    for battle in battles:
        chosen = [c for c in comparisons if (c.log, c.model) == (battle.log, battle.model)]
        if chosen:
            yield Heading(f"{battle.log}, {MODEL_NAMES[battle.model]}")
            yield Table(SHOWN, [_row(comparison) for comparison in chosen])


def _row(comparison: Comparison) -> tuple[str, ...]:
    ours, theirs = comparison.means
    paired = comparison.paired
    low, high = comparison.seeds
    return (
        comparison.policy,
        MEASURES[comparison.measure],
        f"{ours:,.2f}",
        f"{theirs:,.2f}",
        f"{paired.ratio.value:.3f}",
        _interval(paired.ratio),
        f"{low:.3f} to {high:.3f}",
        f"{round(paired.win * paired.pairs)} of {paired.pairs} parts",
    )


def _interval(interval: Interval) -> str:
    return f"{interval.low:.3f} to {interval.high:.3f}"


def _described(spec: PolicySpec) -> str:
    given = [f"{key}={show(value)}" for key, value in (spec.options | spec.session).items()]
    rules = "the published rules" if spec.literal else f"ours ({POLICIES[spec.policy].summary})"
    return f"policy {spec.policy}{' with ' + ', '.join(given) if given else ''}, {rules}"


def _csv(comparisons: Sequence[Comparison]) -> str:
    return to_csv(
        (*NAMES, "policy_mean", "baseline_mean", "ratio", "low", "high", *SEED_RANGE, "win", "loss", "parts"),
        [
            (
                *(one.log, one.model.value, one.policy, one.baseline, one.measure, *one.means),
                *(one.paired.ratio.value, one.paired.ratio.low, one.paired.ratio.high, *one.seeds),
                *(one.paired.win, one.paired.loss, one.paired.pairs),
            )
            for one in comparisons
        ],
    )


def _console_table(block: Table) -> ConsoleTable:
    table = ConsoleTable(*block.columns, header_style="bold")
    for row in block.rows:
        table.add_row(*row)
    return table
