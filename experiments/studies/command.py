"""``spillway study NAME|FILE.py``: play a study's points, judge its claims, write its report."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from spillway.analysis.document.html import shown
from spillway.analysis.document.terminal import say, terminal
from spillway.base.arguments import positive
from spillway.experiments.campaign.folder import reuse
from spillway.experiments.campaign.folder.lock import results_folder
from spillway.experiments.campaign.folder.paper import Paper, add_figures, paper_given
from spillway.experiments.cli.arguments import Parser, add_conduct, available_cores, conduct_of, executor_of
from spillway.experiments.run.errors import SpecError
from spillway.experiments.studies import pairs, report
from spillway.experiments.studies.pairs import Reading
from spillway.experiments.studies.points import Grid, Point, Value
from spillway.experiments.studies.report import Outcome
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.runner import PointResults, play_points
from spillway.experiments.studies.study import OTHER, Study
from spillway.experiments.studies.verdicts import JudgedClaim, judge, vary

FAILURES = 1
"""Exit code if a point failed."""

DATA = "data"
"""Axis of the folder that ``--data`` names."""


def run(study: Study, options: argparse.Namespace) -> int:
    """Run a study; return the exit code (0, or :data:`FAILURES`)."""
    paper, conduct = paper_given(options), conduct_of(options)  # report errors before anything runs
    console = terminal(200)
    changes = _changes(study, options)
    usual = study.points(changes, quick=options.quick, whole=options.all)
    withheld = _changed(changes) or (study.changed_by_quick if options.quick else "") or study.lacks(usual[0])
    with results_folder(options.out or Path("results") / study.name) as out:
        crossed = study.crossed(changes) if options.readings and not options.quick else {}
        draws = [] if withheld or options.quick else study.varied(changes)
        points = list(dict.fromkeys([*usual, *(point for found in (*crossed.values(), *draws) for point in found)]))

        def play(points: Sequence[Point]) -> PointResults:
            workers = conduct.workers or available_cores()
            return play_points(study, points, out, executor_of(conduct), console, workers=workers, rerun=conduct.rerun)

        played = play(points)
        readings = {} if withheld else _judge_readings(study, played, crossed)
        while readings and (joined := study.crossed(changes, pairs.to_try(study, readings))):
            played = played.and_also(play([point for points in joined.values() for point in points]))
            readings |= _judge_readings(study, played, joined)  # a joined reading may give claims that no other gave
        results = _results(study, played, usual)
        claims = [claim.cut(study.quick) for claim in study.claims] if options.quick else study.claims
        varied = vary(
            [claim.cut(study.varying) for claim in claims], [_results(study, played, found) for found in draws]
        )
        outcome = Outcome(
            study=study,
            played=played,
            results=results,
            judged=judge(
                claims, results, study.fitted(study.usual), withheld=withheld, varied=None if options.quick else varied
            ),
            varied=varied,
            crossed={} if withheld else readings,
            withheld=withheld,
            quick=options.quick,
            command=" ".join(["spillway", *map(shlex.quote, sys.argv[1:])]),
        )
        report.show(outcome, console)
        pictures = _drawn(study, results, out / "figures", paper)
        for path in (*report.write(outcome, out, shown(pictures)), *pictures):
            say(console, f"written: {path}")
    reuse.remind(played.old, console, what="points")
    for point, cause in played.failed.items():
        say(console, f"failed {point.id}: {cause}")
    return FAILURES if played.failed else 0


def add_arguments(study: Study, parser: Parser) -> None:
    """Add the options of all studies, and those of this one."""
    add = parser.add_argument_group("points to play").add_argument
    add(
        "--quick",
        action="store_true",
        help="fewer seeds and cases: a check in minutes of the claims that they can judge",
    )
    if study.more:
        add("--all", action="store_true", help="also the grids that are left out for their cost")
    if study.data:
        add("--data", type=Path, metavar="FOLDER", help=f"folder of {study.data}")
    add("--seeds", type=positive, metavar="N", help="seeds 0 to N - 1 in place of the study's")
    add(
        "--set",
        action="append",
        default=[],
        metavar="AXIS=VALUE[;VALUE...]",
        help="other values of an axis, in the grids that vary it; may be repeated. Conditions are then not the "
        "paper's, and nothing is judged",
    )
    add(
        "--no-readings",
        dest="readings",
        action="store_false",
        help="do not compare the readings of the paper's ambiguous points",
    )
    if study.figures:
        add_figures(parser)
    add_conduct(parser, limits=False)
    parser.set_defaults(all=False, data=None)


def _changes(study: Study, options: argparse.Namespace) -> Grid:
    changes: dict[str, Sequence[Value]] = {}
    if options.seeds:
        changes["seed"] = tuple(range(options.seeds))
    if options.data:
        changes[DATA] = (str(options.data),)
    for text in options.set:
        axis, equals, values = text.partition("=")
        if not equals or axis not in study.axes:
            raise SpecError(f"--set {text}: expected AXIS=VALUE[;VALUE...] with an axis of {', '.join(study.axes)}")
        known = [value for grid in study.grids for value in grid.get(axis, ())] or [study.usual.get(axis, "")]
        changes[axis] = tuple(_value(piece, known[0], text) for piece in values.split(";"))
    return changes


def _value(text: str, like: Value, given: str) -> Value:
    """Read a value of the axis's type."""
    try:
        if isinstance(like, bool):
            return {"true": True, "false": False}[text]
        return type(like)(text)
    except (ValueError, KeyError):
        raise SpecError(f"--set {given}: expected {type(like).__name__} values as {like!r}, got {text!r}") from None


def _changed(changes: Mapping[str, Sequence[Value]]) -> str:
    """The reason why nothing is judged under changed conditions; "" if only seeds or the folder of inputs changed."""
    others = [axis for axis in changes if axis not in ("seed", DATA)]
    return f"{', '.join(others)} was set to {OTHER}" if others else ""


def _judge_readings(
    study: Study, played: PointResults, crossed: Mapping[Reading, Sequence[Point]]
) -> dict[Reading, list[JudgedClaim]]:
    claims = [claim.cut(study.crossing or {}) for claim in study.claims]
    return {
        reading: judge(claims, _results(study, played, points), study.fitted(dict(reading)))
        for reading, points in crossed.items()
    }


def _results(study: Study, played: PointResults, points: Sequence[Point]) -> Results:
    values = {point: played.values[point] for point in points if point in played.values}
    return Results(values, study.unit, folders=played.folders)


def _drawn(study: Study, results: Results, folder: Path, paper: Paper) -> list[Path]:
    if not study.figures:
        return []
    from spillway.analysis.plots.style import drawing

    with drawing(paper.width_mm, paper.style, paper.figures):
        return [path for figure in study.figures for path in figure(results, folder)]
