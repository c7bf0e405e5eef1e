"""``spillway workload ACTION``: files in, files out, errors in one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

from spillway.base.arguments import Parser, add_declared, add_out, given, play, tell
from spillway.base.near import near
from spillway.base.options import build
from spillway.base.units import SIZE, many
from spillway.workloads.batsim.batsim5 import to_batsim5
from spillway.workloads.batsim.json_file import read_batsim, write_batsim
from spillway.workloads.batsim.summary import Row, summarise_workload
from spillway.workloads.catalogue import ARCHIVE, CATALOGUE, acknowledgement, fetch
from spillway.workloads.conversion.convert import ConvertOptions, convert, convert_columns, nodes_of
from spillway.workloads.conversion.machine_facts import THESIS_MACHINE, MachineFacts
from spillway.workloads.conversion.needs import fitting_nodes, rounded_up, stated_of
from spillway.workloads.conversion.split import SplitOptions, split_log, split_workload
from spillway.workloads.errors import WorkloadError
from spillway.workloads.files import content_suffix, is_workload, write_pieces
from spillway.workloads.load import load_log, load_table
from spillway.workloads.logs.info import info_rows
from spillway.workloads.logs.reading import add_reading, reading_of
from spillway.workloads.logs.table import JobTable
from spillway.workloads.logs.tables import as_table, read_swf
from spillway.workloads.logs.where import of_machine
from spillway.workloads.models import drawing
from spillway.workloads.models.burst_buffer import THESIS_MODEL, BurstBufferModel
from spillway.workloads.models.synthetic import GENERATORS
from spillway.workloads.swf import write_swf

_MANY_JOBS = 500_000
"""Above this number of jobs a converted log is written as a stream, and no checksum of its content is printed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, or 2 for wrong input (one line on standard error)."""
    parser = Parser(prog="spillway workload", description="Logs, Batsim workloads, and the models between them.")
    parser.set_defaults(handler=act)
    add_actions(parser)
    return play(parser, arguments)


def act(options: argparse.Namespace) -> int:
    """Run the chosen action."""
    try:
        command: Callable[[argparse.Namespace], None] = options.command
        command(options)
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()  # the reader (head, less) has closed the pipe; Python would report it once more at exit
    return 0


def _list(_: argparse.Namespace) -> None:
    tell("public logs (spillway workload fetch NAME):")
    for log in CATALOGUE.values():
        tell(f"  {log.name:28} {log.machine}{' [checksum known]' if log.sha256 else ''}")
    tell("\ngenerators (spillway workload synth NAME[:option=value,...] --out FILE.swf):")
    for name, kind in GENERATORS.items():
        defaults = ",".join(f"{field.name}={field.default}" for field in fields(kind))  # type: ignore[arg-type]
        tell(f"  {name}:{defaults}")


def _fetch(options: argparse.Namespace) -> None:
    fetched = fetch(options.name, options.from_file, options.cache, options.address, options.accept_any)
    log = read_swf(fetched.path)
    tell(f"{fetched.path}\n{len(log.records):,} records, sha256 {fetched.sha256}\n{fetched.how}\n")
    tell(acknowledgement(options.name, log.header.values("Acknowledge")))


def _info(options: argparse.Namespace) -> None:
    if is_workload(Path(options.source)):
        _print_rows(summarise_workload(read_batsim(options.source)))
    else:
        table, name = load_table(options.source, reading_of(options))
        _print_rows([("log", name), *info_rows(table, options.nodes)])


def _convert(options: argparse.Namespace) -> None:
    if options.batsim == 5 and is_workload(Path(options.source)):
        workload = read_batsim(options.source)
        workload = replace(workload, name=options.name or workload.name)
        lines = [many(len(workload.jobs), "job", "jobs")]
    else:
        table, name = load_table(options.source, reading_of(options))
        name = options.name or name
        if len(table) > _MANY_JOBS and options.batsim == 4:
            _convert_many(table, name, options)
            return
        machine, lines = _machine(options, table)
        workload, report = convert(table, machine, _convert_options(options), name)
        lines += report.lines()
    if options.batsim == 5:
        workload = to_batsim5(workload)
    drawing.write_drawn(workload, options.output, *lines)


def _convert_many(table: JobTable, name: str, options: argparse.Namespace) -> None:
    """Write the workload of a large log as a stream: objects for ten million jobs would take more than 8 GB."""
    machine, lines = _machine(options, table)
    converted, report = convert_columns(table, machine, _convert_options(options), name)
    write_pieces(options.output, converted.text())
    tell(*lines, *report.lines(), f"wrote {options.output}")


def _split(options: argparse.Namespace) -> None:
    how = build(SplitOptions, given(options, SplitOptions))
    folder: Path = options.output
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkloadError(f"cannot make the folder: {error.strerror}; name another with --out", str(folder)) from None
    if is_workload(Path(options.source)):
        for part in split_workload(read_batsim(options.source), how):
            label = part.name.rpartition("-")[2]
            write_batsim(part, folder / f"part-{label}.json{options.compress}")
            tell(f"part-{label}: {many(len(part.jobs), 'job', 'jobs')}")
        return
    log, name = load_log(options.source, reading_of(options))
    machine, lines = _machine(options, as_table(log))
    if options.to == "json":
        tell(*lines)
    for number, piece in enumerate(split_log(log, how)):
        if options.to == "swf":
            write_swf(piece, folder / f"part-{number}.swf{options.compress}")
            tell(f"part-{number}: {len(piece.records):,} records")
        elif piece.records:
            workload, report = convert(piece, machine, _convert_options(options), f"{name}-part-{number}")
            write_batsim(workload, folder / f"part-{number}.json{options.compress}")
            tell(f"part-{number}: {'; '.join(report.lines())}")


def _synth(options: argparse.Namespace) -> None:
    if options.generator.partition(":")[0] not in GENERATORS:
        name = options.generator.partition(":")[0]
        raise WorkloadError(f"unknown generator {name!r}; known: {', '.join(GENERATORS)}{near(name, GENERATORS)}")
    log, name = load_log(options.generator)
    if content_suffix(options.output) == ".json":
        machine, _ = _machine(options, as_table(log))
        workload, report = convert(log, machine, _convert_options(options), name)
        drawing.write_drawn(workload, options.output, *report.lines())
    else:
        write_swf(log, options.output)
        tell(f"wrote {options.output}: {len(log.records):,} records")


def _fit(options: argparse.Namespace) -> None:
    from spillway.workloads.models.fit import fit_log, report_lines, write_model

    log, name = load_log(options.source, reading_of(options))
    result = fit_log(log, folds=options.folds, seed=options.seed, name=name)
    tell(*report_lines(result))
    if options.output is not None:
        from spillway.workloads.models.fit_plots import draw_all

        for path in draw_all(log, result, options.output):
            tell(f"drew {path}")
        model = options.output / "burst-buffer-model.json"
        write_model(result.model(), model)
        tell(f"wrote {model}: use it with 'convert --burst-buffers {model}'")


def _machine(options: argparse.Namespace, table: JobTable) -> tuple[MachineFacts, list[str]]:
    """The machine of the options, completed as for a run, with lines that state its source."""
    how = _convert_options(options)
    nodes, pool, lines = options.nodes, 0, []
    if not nodes and "generator" not in options and options.source.partition(":")[0] not in GENERATORS:
        stated = stated_of(_of_machine(table, options), how)
        assert stated.needs is not None
        nodes, why = stated.nodes_and_why(stated.needs)
        pool = int(rounded_up(stated.needs.all_buffers)) if stated.needs.nodes else 0
        size = SIZE.write(float(pool))
        stored = f", {size} of burst buffers in one pool (--storage-nodes and --storage-bytes state others)"
        guess = f"machine: a guess, {why}; --nodes N states the real one"
        known = f"machine: {nodes} nodes ({why}; --nodes N states others){stored if pool else ''}"
        lines = [known if nodes else guess]
        nodes = nodes or fitting_nodes([stated.needs.widest])
    nodes = nodes or fitting_nodes(nodes_of(table, how).tolist(), len(table) // 100)
    per_storage = THESIS_MACHINE.nodes // THESIS_MACHINE.storage_nodes
    facts = MachineFacts(
        nodes=nodes,
        node_speed_flops=options.node_speed,
        network_bytes_per_s=options.network,
        storage_nodes=options.storage_nodes or (1 if pool else -(-nodes // per_storage)),
        storage_bytes=int(options.storage_bytes or pool or THESIS_MACHINE.storage_bytes),
    )
    return facts, lines


def _of_machine(table: JobTable, options: argparse.Namespace) -> JobTable:
    """All jobs of a log's machine, where the table has only the chosen ones."""
    reading = reading_of(options)
    parts = of_machine(reading.where)
    return table if parts == reading.where else load_table(options.source, replace(reading, where=parts))[0]


def _convert_options(options: argparse.Namespace) -> ConvertOptions:
    buffers: BurstBufferModel | None = THESIS_MODEL if options.burst_buffers == "thesis" else None
    if options.burst_buffers not in ("thesis", "none"):
        from spillway.workloads.models.fit import read_model

        buffers = read_model(Path(options.burst_buffers))
    return build(ConvertOptions, given(options, ConvertOptions), burst_buffers=buffers)


def _print_rows(rows: Sequence[Row]) -> None:
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        tell(f"{name:{width}}  {value}")


_OF_CONVERSION = (
    *("model", "seed", "kappa", "processors_per_node", "missing_walltime", "walltime_factor", "oversized", "site_wait"),
    *("bytes_moved", "dependencies", "cancelled", "from_job", "first", "staging", "stripes"),
)


def _add_conversion(parser: argparse.ArgumentParser) -> None:
    machine = parser.add_argument_group("machine (default: the log's, as for 'run'; of generators the thesis's)")
    machine.add_argument("--nodes", type=int, metavar="N", help="compute nodes (as the log states, or had in use)")
    machine.add_argument("--node-speed", type=float, default=1e9, metavar="FLOPS", help="flop/s of a node (1e9)")
    machine.add_argument("--network", type=float, default=1.25e9, metavar="B/S", help="node link, byte/s (1.25e9)")
    machine.add_argument(
        "--storage-nodes", type=int, metavar="N", help="burst-buffer storage nodes (one pool, or N / 8)"
    )
    machine.add_argument("--storage-bytes", type=float, metavar="B", help="capacity of each (all requests, or 40e9)")
    parser.set_defaults(site_fields=True)
    group = parser.add_argument_group("conversion")
    add_declared(group, ConvertOptions, *_OF_CONVERSION)
    group.add_argument(
        "--burst-buffers",
        default="thesis",
        metavar="thesis|none|FILE",
        help="request model: the published one, no requests, or a file of 'fit' (thesis)",
    )


def _add_fetch(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="a name that the action 'list' shows")
    add = parser.add_argument_group("source and cache").add_argument
    add("--from", dest="from_file", type=Path, metavar="FILE", help="take this copy instead")
    add("--cache", type=Path, metavar="DIR", help="cache folder ($XDG_CACHE_HOME/spillway/logs)")
    add("--address", default=ARCHIVE, metavar="URL", help=f"archive or mirror ({ARCHIVE})")
    add("--accept-any", action="store_true", help="take it even with another checksum than the known one")


def _add_converted(parser: Parser) -> None:
    group = parser.add_argument_group("output")
    add_out(group, "FILE.json[.xz|.gz]", "workload to write")
    group.add_argument("--name", default="", metavar="NAME", help="name of the workload (the log's)")
    group.add_argument(
        "--batsim",
        type=int,
        choices=(4, 5),
        default=4,
        help="version that will read it; 5: other names of profile types, further fields in extra_data, and SOURCE may "
        "be a workload for Batsim 4 (4)",
    )


def _add_parts(parser: Parser) -> None:
    group = parser.add_argument_group("output")
    add_out(group, "FOLDER", "folder of the parts")
    add = group.add_argument
    add_declared(group, SplitOptions, "parts", "repeat_in_last")
    add("--to", choices=("json", "swf"), default="json", help="format of a log's parts (json)")
    add("--compress", choices=("", ".xz", ".gz"), default="", metavar=".xz|.gz", help="suffix of the parts (none)")


_LOG = "a log of any format (also .xz, .gz), a generator (kth-like:jobs=500) or a public log's name"
_EITHER = f"FILE.json[.xz|.gz], {_LOG}"


def _add_source(words: str) -> Callable[[Parser], None]:
    def add(parser: Parser) -> None:
        parser.add_argument("source", metavar="SOURCE", help=words)

    return add


def _add_load(parser: Parser) -> None:
    group = parser.add_argument_group("load")
    group.add_argument("--nodes", type=int, default=None, metavar="N", help="processors (those of the log's header)")


def _add_synth(parser: Parser) -> None:
    parser.add_argument("generator", metavar="NAME[:KEY=VALUE,...]", help="generator; the action 'list' shows them")
    add_out(parser.add_argument_group("output"), "FILE.swf|FILE.json", "log or workload to write")


def _add_fit(parser: Parser) -> None:
    add_out(parser.add_argument_group("output"), "FOLDER", "draw the plots here", required=False)
    group = parser.add_argument_group("fitting")
    group.add_argument("--folds", type=int, default=5, metavar="N", help="parts of the cross-validation (5)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the shuffle (0)")


class Action(NamedTuple):
    """An action: its function, one line of help, examples, and the functions that add its arguments."""

    command: Callable[[argparse.Namespace], None]
    text: str
    examples: tuple[str, ...]
    arguments: tuple[Callable[[Parser], None], ...]


ACTIONS: Mapping[str, Action] = {
    "list": Action(_list, "public logs and generators", ("",), ()),
    "fetch": Action(_fetch, "fetch a public log into the cache", ("KTH-SP2-1996-2.1-cln",), (_add_fetch,)),
    "info": Action(
        _info,
        "summary of a log or a workload",
        ("mine.swf", "sacct.txt --nodes 240"),
        (_add_source(_EITHER), _add_load, add_reading),
    ),
    "convert": Action(
        _convert,
        "make a Batsim workload of a log",
        ("mine.swf --out mine.json", "mine.swf --out m.json --model io"),
        (_add_source(_LOG), _add_converted, add_reading, _add_conversion),
    ),
    "split": Action(
        _split,
        "cut a log or a workload into equal periods",
        ("mine.swf --out parts --parts 4",),
        (_add_source(_EITHER), _add_parts, add_reading, _add_conversion),
    ),
    "synth": Action(
        _synth,
        "write a synthetic log or workload",
        ("kth-like:jobs=500,seed=3 --out synthetic.swf",),
        (_add_synth, _add_conversion),
    ),
    "streams": Action(
        drawing.streams,
        "draw jobs like a log's, each with a constant I/O stream",
        ("mine.swf --out streams.json --jobs 500 --mix diverse",),
        (_add_source(_LOG), drawing.add_streams),
    ),
    "periodic": Action(
        drawing.periodic,
        "draw periodic jobs that compute and transfer in turns",
        ("M-BN --load 0.6 --out jobs.json",),
        (drawing.add_periodic,),
    ),
    "recommend": Action(
        drawing.recommend,
        "lists or packs, for a workload of periodic jobs",
        ("jobs.json --bandwidth 1e11",),
        (drawing.add_recommend,),
    ),
    "gang": Action(
        drawing.gang,
        "draw jobs with files on the nodes that they run on",
        ("--out serverless.json --jobs 1000 --intensity 0.5",),
        (drawing.add_gang,),
    ),
    "malleable": Action(
        drawing.malleable,
        "describe jobs as applications with I/O phases, some malleable",
        ("kth-like:jobs=200 --out malleable.json --share 0.5",),
        (_add_source(_EITHER), drawing.add_malleable),
    ),
    "fit": Action(
        _fit,
        "fit the burst-buffer request model to a log with requested memory",
        ("mine.swf --out fitted",),
        (_add_source(_LOG), add_reading, _add_fit),
    ),
}
"""The actions by name."""


def add_actions(parser: Parser) -> argparse._SubParsersAction[Parser]:
    """Add a sub-parser for each action, its function as ``options.command``; return the object that holds them."""
    commands = parser.add_subparsers(required=True, metavar="ACTION", prog=parser.prog)
    for name, action in ACTIONS.items():
        shown = "\n".join(f"{parser.prog} {name} {example}".strip() for example in action.examples)
        sub: Parser = commands.add_parser(name, help=action.text, description=action.text, examples=shown)
        sub.set_defaults(command=action.command)
        for add in action.arguments:
            add(sub)
    return commands
