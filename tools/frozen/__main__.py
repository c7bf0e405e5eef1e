"""Command line of the frozen runs.

``check [PATTERN]`` plays the runs whose recipe contains PATTERN (default: all) again and names those that moved; exit
code 1 if there are any. ``check --show RECIPE --base DIR`` plays one run here and in DIR, a checkout of another commit
with this package (and its ``.venv``), and prints the first rows and messages that differ. ``play RECIPE --out DIR``
writes the table of jobs and the messages of one run. ``record [PATTERN]`` writes the digests into the table; a new run
is a new line of the table with a recipe, and commas in place of digests.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tools.frozen.check import first_differences, play_all, report
from tools.frozen.play import PlayFailed, play
from tools.frozen.recipe import parse
from tools.frozen.table import read, write


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.frozen", description=__doc__.split("\n")[0])
    actions = parser.add_subparsers(dest="action", required=True)
    for action, words in (("check", "play again and compare"), ("record", "play and write the digests")):
        sub = actions.add_parser(action, help=words)
        sub.add_argument("pattern", nargs="?", default="", help="part of the recipes to play (all)")
        sub.add_argument("--processes", type=int, default=2, metavar="N", help="plays at a time (2)")
        if action == "check":
            sub.add_argument("--show", metavar="RECIPE", help="show where one run moved")
            sub.add_argument("--base", type=Path, metavar="DIR", help="checkout to compare it with")
    sub = actions.add_parser("play", help="write the tables of one run")
    sub.add_argument("recipe")
    sub.add_argument("--out", type=Path, required=True, metavar="DIR", help="an empty or new folder")
    options = parser.parse_args(arguments)
    if options.action == "play":
        return _play(options.recipe, options.out)
    if options.action == "check" and options.show is not None:
        if options.base is None:
            parser.error("--show needs --base DIR: the table has digests only")
        with tempfile.TemporaryDirectory() as folder:
            print("\n".join(first_differences(options.show, options.base, Path(folder))))
        return 0
    table = read()
    chosen = {name: digests for name, digests in table.items() if options.pattern in name}
    if not chosen:
        parser.error(f"no recipe contains {options.pattern!r}")
    outcomes = play_all(chosen, options.processes)
    if options.action == "check":
        return report(chosen, outcomes)
    failures = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, str)}
    for name, cause in failures.items():
        print(f"failed  {name}\n        {cause}")
    write(table | {name: found for name, found in outcomes.items() if not isinstance(found, str)})
    print(f"{len(outcomes) - len(failures)} runs recorded, {len(failures)} failed")
    return 1 if failures else 0


def _play(recipe: str, folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        digests = play(parse(recipe), folder.resolve())
    except PlayFailed as error:
        print(error)
        return 1
    print(f"jobs {digests.jobs}, messages {digests.messages}: {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
