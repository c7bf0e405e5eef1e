"""``spillway report DIR``."""

from __future__ import annotations

import argparse
from pathlib import Path

from spillway.base.arguments import Parser, tell

HELP = "a campaign's results as one HTML file"
EXAMPLES = """
spillway report results/mine-1a2b3c4
spillway report results/mine-1a2b3c4 --out mine.html
spillway report results/mine-1a2b3c4 --pdf mine.pdf
spillway report results/mine-1a2b3c4 --figures pdf,svg --width 84mm
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    from spillway.experiments.campaign.folder.paper import add_figures

    parser.add_argument("campaign", type=Path, metavar="DIR", help="folder of a campaign")
    parser.add_argument("--pdf", type=Path, metavar="FILE", help="print the page, too (with an installed Chromium)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: report.html in the folder")
    add_figures(parser)


def command(options: argparse.Namespace) -> int:
    """Write the page."""
    from contextlib import nullcontext

    from spillway.analysis.report.build import PAGE, build_report
    from spillway.analysis.report.pdf import print_pdf
    from spillway.experiments.campaign.folder.figures import draw_again
    from spillway.experiments.campaign.folder.lock import results_folder
    from spillway.experiments.campaign.folder.paper import OPTIONS, paper_given
    from spillway.experiments.campaign.folder.verify import refuse_damaged
    from spillway.experiments.run import manifest

    paper = paper_given(options)
    if options.out is not None and options.out.resolve() == (options.campaign / PAGE).resolve():
        options.out = None
    for file in filter(None, (options.out, options.pdf)):
        manifest.refuse_member(file)
    drawn = any(getattr(options, name) is not None for name in OPTIONS)
    writes_there = (options.out is None or drawn) and options.campaign.is_dir()
    with results_folder(options.campaign) if writes_there else nullcontext():
        refuse_damaged(options.campaign)
        if drawn:
            draw_again(options.campaign, paper)
        page = build_report(options.campaign, options.out)
        if options.out is None and writes_there:
            manifest.add(options.campaign, page.name)
        tell(page)
        if options.pdf is not None:
            tell(print_pdf(page, options.pdf))
    return 0
