"""Command line of ``run_experiments.py``."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from experiments import signals
from experiments.arguments import RESULTS, Parser, add_common, add_max_runs, executor_of
from experiments.errors import Interrupted, SpecError
from experiments.spec import (
    DEFAULT_SILENCE_S,
    DEFAULT_TAU_S,
    Campaign,
    Engine,
    ModelSpec,
    PlatformSpec,
    Player,
    PolicySpec,
    Transport,
    WorkloadSpec,
)

if TYPE_CHECKING:
    from schedulers.options import Value

DEMO = Path(__file__).with_name("demo.toml")
USAGE = """run_experiments.py                  the demo campaign: five policies on a synthetic log
       run_experiments.py CAMPAIGN.toml    a campaign
       run_experiments.py run --workload FILE --policy NAME ...    one comparison (run --help)
       run_experiments.py explain RUN JOB  why a job waited
       run_experiments.py report DIR       a campaign's results as one HTML file
       run_experiments.py export RUN FILE  a schedule for other tools (SWF, Batsim's CSV)
       run_experiments.py verify DIR       whether runs and campaigns are what was written
       run_experiments.py verify-batsim    the embedded simulator against the real Batsim
       run_experiments.py thesis           the evaluation of Kopanski's thesis, repeated (thesis --help)
       run_experiments.py herbein          I/O-aware scheduling on CTS-1, the second paper (herbein --help)
       run_experiments.py jeannot          I/O-aware lists and packs, exclusive I/O, the third paper (jeannot --help)
       run_experiments.py gang             gang scheduling and files on nodes, the fourth paper (gang --help)
       run_experiments.py malleable        malleability and I/O control, the fifth paper (malleable --help)"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code. Every expected error is one line on the standard error stream."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with signals.stopping_on_signals():
            command = COMMANDS.get(given[0]) if given else None
            return command(given[1:]) if command else _campaign_command(given)
    except Exception as error:
        code = getattr(error, "exit_code", None)
        if code is None:
            raise
        print(f"run_experiments: {'' if isinstance(error, Interrupted) else 'error: '}{error}", file=sys.stderr)
        return int(code)
    except KeyboardInterrupt as stop:
        number = signals.number_of(stop)
        print(f"run_experiments: {signals.how(number)}", file=sys.stderr)
        return signals.exit_code(number)


def _campaign_command(arguments: Sequence[str]) -> int:
    """``run_experiments.py [CAMPAIGN.toml]``."""
    from experiments.campaign_file import read_campaign

    options = campaign_parser().parse_args(arguments)
    path: Path = options.campaign or DEMO
    if path.suffix != ".toml":
        raise SpecError(f"expected a campaign file (.toml) or one of {', '.join(COMMANDS)}, got {str(path)!r}")
    return _run(read_campaign(path, options.max_runs), options.out or RESULTS / path.stem, options)


def _run_command(arguments: Sequence[str]) -> int:
    """``run_experiments.py run ...``."""
    options = run_parser().parse_args(arguments)
    return _run(campaign_of(options), options.out or RESULTS / "run", options)


def _run(campaign: Campaign, out: Path, options: argparse.Namespace) -> int:
    from experiments.campaign import run_campaign

    console = Console() if sys.stdout.isatty() else Console(width=160, force_terminal=False)
    return run_campaign(campaign, out, executor_of(options), console, rerun=options.rerun, max_runs=options.max_runs)


def _explain_command(arguments: Sequence[str]) -> int:
    """``run_experiments.py explain RUN JOB``."""
    from experiments.explain import explain

    options = explain_parser().parse_args(arguments)
    for line in explain(options.run, options.job, lambda text: print(text, file=sys.stderr, flush=True)):
        print(textwrap.fill(line, 100))
    return 0


def _report_command(arguments: Sequence[str]) -> int:
    """``run_experiments.py report DIR``."""
    from contextlib import nullcontext

    from analysis.report.build import build_report
    from experiments import manifest
    from experiments.lock import results_folder

    options = report_parser().parse_args(arguments)
    writes_there = options.out is None and options.campaign.is_dir()
    with results_folder(options.campaign) if writes_there else nullcontext():
        page = build_report(options.campaign, options.out)
        if writes_there:
            manifest.add(options.campaign, page.name)
        print(page)
    return 0


def _verify_command(arguments: Sequence[str]) -> int:
    """``run_experiments.py verify DIR``."""
    from experiments.verify import verify

    return verify(verify_parser().parse_args(arguments).folder, print)


def _verify_batsim_command(arguments: Sequence[str]) -> int:
    """``run_experiments.py verify-batsim``."""
    from experiments.verify_batsim import command

    options = verify_batsim_parser().parse_args(arguments)
    return command(options.only, options.keep)


def _gang_command(arguments: Sequence[str]) -> int:
    """``run_experiments.py gang ...``."""
    from experiments.gang.command import command

    return command(arguments)


def _herbein_command(arguments: Sequence[str]) -> int:
    """``run_experiments.py herbein ...``."""
    from experiments.herbein.command import command

    return command(arguments)


def _jeannot_command(arguments: Sequence[str]) -> int:
    """``run_experiments.py jeannot ...``."""
    from experiments.jeannot.command import command

    return command(arguments)


def _malleable_command(arguments: Sequence[str]) -> int:
    """``run_experiments.py malleable ...``."""
    from experiments.malleable.command import command

    return command(arguments)


def _thesis_command(arguments: Sequence[str]) -> int:
    """``run_experiments.py thesis ...``."""
    from experiments.thesis.command import main as thesis

    return thesis(arguments)


def _export_command(arguments: Sequence[str]) -> int:
    """``run_experiments.py export RUN FILE``."""
    from analysis.interchange import export
    from analysis.tables import read_run

    options = export_parser().parse_args(arguments)
    export(read_run(options.run), options.file)
    return 0


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "run": _run_command,
    "explain": _explain_command,
    "report": _report_command,
    "export": _export_command,
    "verify": _verify_command,
    "verify-batsim": _verify_batsim_command,
    "thesis": _thesis_command,
    "herbein": _herbein_command,
    "jeannot": _jeannot_command,
    "gang": _gang_command,
    "malleable": _malleable_command,
}
"""Subcommands by name; anything else is a campaign file."""


def campaign_of(options: argparse.Namespace) -> Campaign:
    """Turn the options of ``run`` into a campaign; raise :class:`SpecError` for what does not fit together."""
    return Campaign(
        name="run",
        workloads=tuple(WorkloadSpec(source=source, convert=_conversion(options)) for source in options.workload),
        platforms=(_platform(options),),
        policies=policies_of(options.policy, options.options, session_of(options), literal=options.thesis_literal),
        models=tuple(_model_spec(text) for text in options.model) or (ModelSpec(),),
        player=Player(options.player),
        seeds=(options.seed,),
        engine=Engine(options.engine),
        transport=Transport(options.transport),
        image=options.image,
        tau_s=options.tau,
        silence_s=options.silence,
        events=options.events,
        plots=options.plots,
        explain=options.explain,
        uncontended=options.uncontended,
    )


def _platform(options: argparse.Namespace) -> PlatformSpec:
    """The machine that ``--platform`` names, or that ``--nodes`` and ``--burst-buffer`` state."""
    from experiments.machines import AUTO, SIZED

    if options.nodes is None:
        if options.burst_buffer is not None:
            raise SpecError("--burst-buffer goes with --nodes N: a named platform has burst buffers of its own")
        return PlatformSpec(source=options.platform)
    if options.platform != AUTO:
        raise SpecError("--nodes and --platform exclude each other: each states the machine")
    capacity = f",burst_buffer={options.burst_buffer}" if options.burst_buffer is not None else ""
    return PlatformSpec(source=f"{SIZED}{options.nodes}{capacity}")


def _conversion(options: argparse.Namespace) -> dict[str, Any]:
    per_node = options.processors_per_node
    return {} if per_node is None else {"processors_per_node": per_node}


def _model_spec(text: str) -> ModelSpec:
    from schedulers.jobmodels import parse_model
    from schedulers.plugins import split_spec

    parse_model(text)  # wrong names and options are refused now
    name, given = split_spec(text)
    return ModelSpec(name=name, options=dict(given))


def session_of(options: argparse.Namespace) -> dict[str, Value]:
    """Settings of the session that were given, still as texts."""
    from experiments.sessions import SETTINGS

    given = {name: getattr(options, name) for name in SETTINGS}
    return {name: value for name, value in given.items() if value is not None}


def policies_of(
    names: Sequence[str], assignments: Sequence[str], session: dict[str, Value], *, literal: bool
) -> tuple[PolicySpec, ...]:
    """Combine ``--policy`` and ``-o POLICY.key=value``.

    Raises
    ------
    SpecError
        An option names no policy of the comparison.
    OptionError
        An option is malformed, unknown or out of range.
    """
    import msgspec

    from experiments import policies, sessions
    from schedulers.options import split_assignments

    specs = [policies.parse_policy(name, literal=literal) for name in names or policies.FIVE]
    chosen = {spec.policy for spec in specs}
    for text in assignments:
        name, dot, assignment = text.partition(".")
        if not dot or "=" in name:
            raise SpecError(f"-o takes POLICY.key=value, such as easy.depth=2; got {text!r}")
        if name not in chosen:
            raise SpecError(f"-o {text}: {name!r} is not among the policies {', '.join(sorted(chosen))}")
        option = split_assignments([assignment])
        specs = [
            msgspec.structs.replace(spec, options=spec.options | option) if spec.policy == name else spec
            for spec in specs
        ]
    specs = [sessions.typed(msgspec.structs.replace(spec, session=session)) for spec in specs]
    return tuple(
        msgspec.structs.replace(spec, label=policies.label(msgspec.structs.replace(spec, session={}))) for spec in specs
    )


def campaign_parser() -> argparse.ArgumentParser:
    """Arguments of a campaign."""
    parser = Parser(prog="run_experiments.py", usage=USAGE, description="Repeat scheduling experiments and compare.")
    parser.add_argument("campaign", nargs="?", type=Path, metavar="CAMPAIGN.toml", help="default: the demo campaign")
    add_common(parser)
    add_max_runs(parser)
    return parser


def explain_parser() -> argparse.ArgumentParser:
    """Arguments of ``explain``."""
    parser = Parser(
        prog="run_experiments.py explain",
        description="Print why a job waited. Where the run kept no reasons (--explain), it is repeated first.",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a finished run")
    parser.add_argument("job", metavar="JOB", help="job id: 12, or w0!12")
    return parser


def report_parser() -> argparse.ArgumentParser:
    """Arguments of ``report``."""
    parser = Parser(prog="run_experiments.py report", description="Write a campaign's results as one HTML file.")
    parser.add_argument("campaign", type=Path, metavar="DIR", help="folder of a campaign")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: report.html in the folder")
    return parser


def export_parser() -> argparse.ArgumentParser:
    """Arguments of ``export``."""
    parser = Parser(
        prog="run_experiments.py export",
        description="Write a run's schedule for other tools: Batsim's jobs.csv, or a log (SWF) as it really ran.",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a run, or of the results of a real Batsim")
    parser.add_argument("file", type=Path, metavar="FILE", help="file to write, ending in .csv or .swf")
    return parser


def verify_parser() -> argparse.ArgumentParser:
    """Arguments of ``verify``."""
    parser = Parser(
        prog="run_experiments.py verify",
        description="Check that results are what was written: every run's files and inputs and a campaign's tables, "
        "against their sizes and checksums. Each damaged file is named with what is wrong.",
        epilog="Exit codes: 0 all whole (failed runs are named, they hold no result); 1 something is damaged; 2 there "
        "is nothing to verify.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="a run, a campaign, or a folder with several of them")
    return parser


def verify_batsim_parser() -> argparse.ArgumentParser:
    """Arguments of ``verify-batsim``."""
    parser = Parser(
        prog="run_experiments.py verify-batsim",
        description="Run fixed pairs of runs on the real Batsim and on the embedded simulator, and print how far they "
        "differ. Batsim is the program that the environment variable BATSIM names, else 'batsim' on PATH.",
        epilog="Exit codes: 0 all pairs are equal up to 2e-5 s; 1 a larger difference, or a run failed; 2 wrong input; "
        "77 skipped, there is no Batsim.",
    )
    parser.add_argument("--only", action="append", default=[], metavar="PAIR", help="this pair; may be repeated")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="new folder for the files of all runs")
    return parser


def run_parser() -> argparse.ArgumentParser:
    """Arguments of ``run``."""
    from experiments.docker_engine import DEFAULT_IMAGE
    from experiments.machines import AUTO
    from experiments.policies import FIVE
    from experiments.sessions import SETTINGS
    from schedulers.former import add_former
    from schedulers.jobmodels import MODELS
    from schedulers.options import show

    parser = Parser(
        prog="run_experiments.py run",
        description="Compare policies on workloads. Finished runs are kept: the same command goes on where it stopped. "
        "A run that other code made is named and marked, and done again with --rerun; one whose files were changed is "
        "done again. One command at a time writes a folder.",
        epilog="Exit codes: 0 all runs finished, whether or not jobs were rejected; 1 a run failed; 2 wrong input; "
        "130 stopped by Ctrl-C (143 by SIGTERM, 129 by SIGHUP).",
    )
    add = parser.add_argument
    add(
        "--workload",
        action="append",
        required=True,
        metavar="SOURCE",
        help="Batsim workload (.json), log (.swf), both also .xz or .gz; a quoted pattern of them; 'ARCHIVE.tar.xz!"
        "MEMBER' with a pattern of members; a generator such as kth-like:jobs=500; or a public log's name "
        "(python -m workloads list). May be repeated",
    )
    add(
        "--platform",
        default=AUTO,
        metavar="NAME|FILE",
        help="built-in machine, description (.toml) or SimGrid XML. The default has the nodes that the log states in "
        "its header; where it states none, it is the machine of the thesis if the jobs fit on it, else one of its kind",
    )
    add(
        "--nodes",
        type=_positive,
        default=None,
        metavar="N",
        help="in place of --platform: a machine of N compute nodes, the rest as that of the thesis in proportion",
    )
    add(
        "--processors-per-node",
        type=_positive,
        default=None,
        metavar="P",
        help="processors of a node of the machine that the log was recorded on: p processors become p / P nodes (1)",
    )
    add(
        "--burst-buffer",
        default=None,
        metavar="SIZE",
        help="with --nodes: capacity of each storage node, one for every 8 compute nodes (40GB)",
    )
    add(
        "--policy",
        action="append",
        default=[],
        metavar="NAME[:KEY=VALUE,...]",
        help=f"policy; may be repeated (default: {', '.join(FIVE)}; python -m schedulers --list shows all)",
    )
    add("-o", dest="options", action="append", default=[], metavar="P.KEY=VALUE", help="option of policy P")
    add("--thesis-literal", action="store_true", help="the published experiment's rules, where ours are better")
    add("--engine", choices=[e.value for e in Engine], default="fluid", help="what plays the machine (%(default)s)")
    add(
        "--image",
        default="",
        metavar="NAME",
        help=f"image whose Batsim (4.1 or newer) --engine docker runs ({DEFAULT_IMAGE})",
    )
    add(
        "--events",
        default="",
        metavar="FILE",
        help="external events in Batsim's format, a JSON object per line: outages of hosts (--on-outage states what "
        "follows)",
    )
    add(
        "--silence",
        type=_seconds,
        default=DEFAULT_SILENCE_S,
        metavar="SECONDS",
        help="give up a simulator in a process of its own when it says nothing for so long; the end of its process is "
        "noticed at once (%(default)g)",
    )
    add("--transport", choices=[t.value for t in Transport], default="direct", help="in one process, or over ZeroMQ")
    add(
        "--model",
        action="append",
        default=[],
        metavar="NAME|FILE.py:CLASS[:KEY=VALUE,...]",
        help=f"what started jobs do: {', '.join(MODELS)}, or a class of one's own, with its options (io:max_phases=5); "
        "may be repeated (default: timeshared under gang policies, else rigid)",
    )
    add(
        "--player",
        choices=[p.value for p in Player],
        default="direct",
        help="operations of jobs as calls in this "
        "process, or as messages for each sub-job, as a real Batsim gets them; the tables are the same (%(default)s)",
    )
    add_former(parser)
    for name, setting in SETTINGS.items():
        words = f"{setting.help}: {setting.expected} (default: {show(setting.default)})".replace("%", "%%")
        add(f"--{name.replace('_', '-')}", default=None, metavar="VALUE", help=words)
    add("--seed", type=_natural, default=0, metavar="N", help="seed of everything random (%(default)s)")
    add(
        "--tau", type=_seconds, default=DEFAULT_TAU_S, metavar="S", help="bound of the bounded slowdown (%(default)g s)"
    )
    add("--explain", action="store_true", help="keep why jobs waited (see the command 'explain')")
    add(
        "--no-uncontended",
        dest="uncontended",
        action="store_false",
        help="with --model io, do not also simulate each job by itself (its slowdown by contention is then left out)",
    )
    add("--no-plots", dest="plots", action="store_false", help="draw no figures")
    add_common(parser)
    add_max_runs(parser)
    return parser


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number >= 0, got {text!r}")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number >= 1, got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds > 0, got {text!r}")
    return value
