"""Command line: ``spillway platform list | generate | annotate | check | draw | fit``."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spillway.base import units
from spillway.base.arguments import Parser, add_out, natural, play, positive, tell
from spillway.base.files import parse_toml
from spillway.base.limits import InputError
from spillway.platforms.catalogue import builtin_files, checksum, describe, platform_from, resolve_platform
from spillway.platforms.errors import PlatformError
from spillway.platforms.model import Platform
from spillway.platforms.simgrid.annotate import annotate


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code: 0, or 2 after one line about the fault in the input."""
    parser = Parser(prog="spillway platform", description="Machine descriptions and SimGrid XML.")
    parser.set_defaults(handler=lambda options: options.run(options))
    add_actions(parser)
    return play(parser, arguments)


def add_actions(parser: Parser) -> argparse._SubParsersAction[Parser]:
    """Add a sub-parser for each action, with its function as ``options.run``; return the group, for further actions."""
    commands = parser.add_subparsers(required=True, metavar="ACTION", prog=parser.prog)

    def add(name: str, run: Callable[[argparse.Namespace], int], text: str, example: str = "") -> Parser:
        shown = f"{parser.prog} {name} {example}".strip()
        sub: Parser = commands.add_parser(name, help=text, description=text, examples=shown)
        sub.set_defaults(run=run)
        return sub

    any_form = "built-in name, description (.toml) or SimGrid XML"
    add("list", _list, "built-in platforms")
    sub = add("generate", _generate, "write SimGrid XML from a description", "thesis --out thesis.xml")
    sub.add_argument("platform", metavar="NAME|FILE.toml", help="built-in name or description (.toml)")
    add_out(sub, "FILE.xml", "file to write")
    sub.add_argument(
        "-s",
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="other value, such as pfs.bandwidth=63GBps",
    )
    sub = add(
        "annotate",
        _annotate,
        "write the paths of bytes to the file system into SimGrid XML, so that bandwidth can be scheduled",
        "site.xml --out annotated.xml",
    )
    sub.add_argument("platform", metavar="FILE.xml", help="SimGrid XML")
    add_out(sub, "FILE.xml", "file to write")
    sub.add_argument("--pfs", default="", metavar="HOST", help="host of the file system (default: by its role)")
    sub.add_argument("--own-links", action="store_true", help="count links that one host alone uses, too")
    sub = add("check", _check, "read a platform as SimGrid does and print its contents", "site.xml")
    sub.add_argument("platform", metavar="NAME|FILE", help=any_form)
    sub = add("draw", _draw, "draw a picture", "thesis --out thesis.png")
    sub.add_argument("platform", metavar="NAME|FILE", help=any_form)
    add_out(sub, "FILE", "file to write (.png, .pdf, .svg)")
    sub = add(
        "fit",
        _fit,
        "fit times of staging and running to measured runs, with the errors of left-out jobs",
        "cori.csv summit.csv",
    )
    sub.add_argument("files", nargs="+", type=Path, metavar="FILE.csv", help="measured runs, separated by blanks")
    sub.add_argument("--folds", type=positive, default=5, metavar="N", help="parts of the cross-validation (5)")
    sub.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of the shuffle (0)")
    return commands


def _list(_: argparse.Namespace) -> int:
    for name in builtin_files():
        tell(f"{name:<14} {describe(name).summary}")
    return 0


def _generate(options: argparse.Namespace) -> int:
    if Path(options.platform).suffix == ".xml":
        raise PlatformError("is SimGrid XML already; expected a built-in name or a .toml file", options.platform)
    _write(options.output, resolve_platform(options.platform, _overrides(options.set)))
    return 0


def _annotate(options: argparse.Namespace) -> int:
    if Path(options.platform).suffix != ".xml":
        raise PlatformError("expected a SimGrid XML file; descriptions are written with their levels", options.platform)
    xml = resolve_platform(options.platform)
    _write(options.output, annotate(xml, options.platform, options.pfs, own_links=options.own_links))
    return 0


def _write(path: Path, xml: str) -> None:
    try:
        path.write_text(xml, encoding="utf-8")
    except OSError as error:
        raise PlatformError(f"cannot write: {error}", str(path)) from None
    tell(f"{path}: {len(xml)} bytes, sha256 {checksum(xml)}")


def _check(options: argparse.Namespace) -> int:
    for line in _summary(platform_from(options.platform)):
        tell(line)
    return 0


def _draw(options: argparse.Namespace) -> int:
    from spillway.platforms.pictures.drawing import draw_platform  # matplotlib takes half a second to import

    draw_platform(options.platform, options.output)
    tell(options.output)
    return 0


def _fit(options: argparse.Namespace) -> int:
    from spillway.platforms.sites.measurements import fit_runs, read_runs, report

    runs = [run for path in options.files for run in read_runs(path)]
    for line in list(report(fit_runs(runs, options.folds, options.seed))):  # all lines, or only the error
        tell(line)
    return 0


def _overrides(texts: Sequence[str]) -> Mapping[str, Any]:
    """Values by key, from ``KEY=VALUE`` texts; a value that is not valid TOML is a text."""
    values: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise PlatformError(f"--set: expected KEY=VALUE, got {text!r}")
        try:
            values[key] = parse_toml(f"value = {value}")["value"]
        except InputError:
            values[key] = value
    return values


_PAIR_LIMIT = 40_000
"""Most pairs of hosts with routes to check; of larger platforms an even selection."""


def _summary(platform: Platform) -> Iterator[str]:
    """Lines of text: hosts by role, burst buffers, links, routes, likely faults."""
    roles = Counter(host.role or "compute_node" for host in platform.hosts)
    counts = ", ".join(f"{count} {role}" for role, count in sorted(roles.items()))
    yield f"hosts: {len(platform.hosts)} ({counts})"
    buffers = [int(host.properties.get("capacity_bytes", "0")) for host in platform.hosts]
    if any(buffers):
        total = units.SIZE.write(float(sum(buffers)))
        yield f"burst buffers: {total} on {sum(map(bool, buffers))} hosts"
    fat = int(platform.fatpipe.sum())
    yield f"links: {len(platform.links)} ({fat} of them fat pipes)"
    yield from _routes(platform)
    if not roles["master"]:
        yield "note: no host has the property role=master; Batsim then expects one called master_host"
    idle = [host.name for host in platform.hosts if not host.role and host.speed == 0]
    if idle:
        yield f"note: {len(idle)} compute hosts have speed 0, such as {idle[0]}; Batsim refuses them"


def _routes(platform: Platform) -> Iterator[str]:
    count = len(platform.hosts)
    step = -(-count * count // _PAIR_LIMIT)
    longest, empty, missing, seen = 0, [], [], 0
    for pair in range(0, count * count, step):
        src, dst = divmod(pair, count)
        names = f"{platform.hosts[src].name} -> {platform.hosts[dst].name}"
        seen += 1
        try:
            links = platform.route(src, dst).links
        except PlatformError:
            missing.append(names)
            continue
        longest = max(longest, len(links))
        if not links:
            empty.append(names)
    checked = "all" if step == 1 else f"{seen} of"
    yield f"routes: {checked} {count * count} pairs looked at, {longest} links at most"
    if empty:
        yield f"note: {len(empty)} routes have no links, such as {empty[0]}; traffic there takes no time"
    if missing:
        yield f"note: {len(missing)} pairs have no route, such as {missing[0]}; traffic there is an error"


if __name__ == "__main__":
    sys.exit(main())
