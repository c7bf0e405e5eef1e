"""Makes the gallery of the documentation: every kind of plot, with the command that makes it.

``python -m docs.tools.gallery`` runs all commands, keeps small copies of their pictures in ``docs/images/gallery`` and
writes ``docs/gallery.md``; ``--only NAME`` makes the pictures of one command, ``--from DIR`` takes pictures that were
made before.
"""

from __future__ import annotations

import argparse
import io
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spillway.analysis.document.blocks import Block, Code, Heading, Image, Paragraph
from spillway.analysis.document.text import to_markdown
from spillway.base import durable
from spillway.base.arguments import PROGRAM, tell
from spillway.experiments import cli
from spillway.experiments.run.codehash import REPOSITORY

PAGE = REPOSITORY / "docs" / "gallery.md"
IMAGES = REPOSITORY / "docs" / "images" / "gallery"
WIDEST = 1200
"""Width of a picture in the gallery in pixels: that of a page, and twice that of a phone."""

COLOURS = 192
"""Colours of a picture's palette, enough for shades of a scale."""


@dataclass(frozen=True)
class Picture:
    """One picture.

    Attributes
    ----------
    file
        Path below the folder of the command; of a pattern, the first match.
    words
        Caption.
    plots
        The functions of :mod:`spillway.analysis.plots` that draw it.
    """

    file: str
    words: str
    plots: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exhibit:
    """A command and the pictures that it makes.

    Attributes
    ----------
    name
        The folder ``results/NAME`` of the command, and the beginning of its pictures' names.
    title
        Title of the section.
    command
        As it is typed after ``spillway``; ``{out}`` is the folder.
    pictures
        Its pictures.
    """

    name: str
    title: str
    command: str
    pictures: tuple[Picture, ...]

    def typed(self, out: str) -> str:
        """The command with its folder."""
        return self.command.format(out=out)

    def image(self, picture: Picture) -> Path:
        """File of a picture in the gallery."""
        stem = Path(picture.file).stem.replace("*", "").strip("-")
        return IMAGES / f"{self.name}-{stem}.png"


EXHIBITS = (
    Exhibit(
        "comparison",
        "A comparison of policies",
        "run kth-like:jobs=300 --model io --policy fcfs --policy easy-no-bb --policy easy --policy sjf-easy "
        "--explain --out {out}",
        (
            Picture("plots/waiting-time.png", "Mean waiting time by policy; one workload: no interval.", ("bars",)),
            Picture("plots/waiting-time-distribution.png", "Waiting times of all jobs: letter values.", ("boxen",)),
            Picture("plots/trade-off.png", "Mean against longest wait; unbeaten policies have a rim.", ("pareto",)),
            Picture("plots/queue.png", "Number of waiting jobs over time.", ("queue_timeline",)),
            Picture(
                "plots/gantt-easy.png",
                "Jobs on nodes and burst buffers over time, and the shares that were held.",
                ("gantt", "node_gantt", "storage_gantt", "utilisation_timeline"),
            ),
            Picture("plots/file-system-easy.png", "Traffic of the file system.", ("file_system_timeline",)),
            Picture("plots/promises-easy.png", "Starts promised by reservations, and actual starts.", ("promises",)),
        ),
    ),
    Exhibit(
        "thesis",
        "The evaluation of Kopański's thesis",
        "study thesis --quick --set model=rigid --out {out}",
        (
            Picture(
                "figures/*-mean_waiting_time_s-full.png",
                "One metric three ways.",
                ("distribution", "bars", "boxen", "tail_strip"),
            ),
            Picture("figures/*-mean_waiting_time_s-parts.png", "Means by part of a split workload.", ("part_bars",)),
            Picture(
                "figures/*-mean_waiting_time_s-normalised.png",
                "Ratios to a baseline over the parts.",
                ("normalised_boxes",),
            ),
        ),
    ),
    Exhibit(
        "herbein",
        "I/O-aware scheduling (Herbein et al.)",
        "study herbein --quick --set size=3.375 --out {out}",
        (
            Picture("figures/computing-percent-over-under.png", "Allocated node time that is computation (figure 5)."),
            Picture("figures/contended-percent-over-under.png", "Time in which jobs contend (section 4.4)."),
        ),
    ),
    Exhibit(
        "jeannot",
        "Lists, packs and exclusive I/O (Jeannot et al.)",
        "study jeannot --quick --out {out}",
        (
            Picture("**/figure-4-M-BN.png", "Utilisation during the execution (figure 4)."),
            Picture("**/max-stretch-over-load.png", "Maximum stretch by load (figure 6)."),
            Picture("**/mean-stretch-over-load.png", "Mean stretch by load (figure 7)."),
            Picture("**/figure-8-transferring.png", "Bandwidth in use over time (figure 8)."),
        ),
    ),
    Exhibit(
        "malleable",
        "Malleable jobs and I/O control (Singh & Carretero)",
        "study malleable --quick --out {out}",
        (
            Picture("**/figure-1.png", "Two writes at once (figure 1)."),
            Picture("**/figure-13.png", "A phase of I/O moved out of another's way (figure 13)."),
            Picture("**/figure-14.png", "Times of use case C (figure 14)."),
            Picture("**/figure-15.png", "I/O times of use case D (figure 15)."),
            Picture("**/figure-16.png", "Times of use case D (figure 16)."),
        ),
    ),
    Exhibit(
        "gang",
        "Gang scheduling, files on nodes (Zhang et al.)",
        "study gang --quick --out {out}",
        (
            Picture("**/figure-4-slowdown.png", "Slowdown by load, two policies (figure 4).", ("interval_lines",)),
            Picture("**/figure-6-slowdown.png", "Slowdown by load, three policies (figure 6).", ("interval_lines",)),
            Picture("**/figure-8-limit.png", "Effect of the limit of migration (figure 8).", ("interval_lines",)),
            Picture("**/figure-9-slowdown.png", "Four policies, slowdown by load (figure 9).", ("interval_lines",)),
            Picture("**/figure-9-wait.png", "Four policies, wait by load (figure 9).", ("interval_lines",)),
        ),
    ),
    Exhibit(
        "transfer",
        "Plans on held-out logs",
        'study transfer-choosing --quick --set "period=kth-like 1;kth-like 3;lublin 1;lublin 3;lublin-256 1" '
        '--set "policy=plan-square literal;easy;easy area;plan guarded;plan" --out {out}',
        (Picture("figures/ratios.png", "Waits over those of the published plan, with intervals.", ("forest",)),),
    ),
    Exhibit(
        "starvation",
        "Starvation for a second resource",
        "conformance slurm --figure {out}/waits.png",
        (
            Picture(
                "waits.png",
                "Wait of a job that needs all of a pool: grey up to its start where reservations cover it, "
                "orange beyond.",
                ("excess_bars",),
            ),
        ),
    ),
    Exhibit(
        "dragonfly",
        "A machine: Dragonfly",
        "platform draw thesis --out {out}/thesis.png",
        (Picture("thesis.png", "Nodes, storage nodes, routers and the file system, and their cables."),),
    ),
    Exhibit(
        "tree",
        "A machine: tree",
        "platform draw tiny --out {out}/tiny.png",
        (Picture("tiny.png", "Two switches of four nodes, a burst buffer at each."),),
    ),
)


def page(exhibits: Sequence[Exhibit] = EXHIBITS) -> str:
    """The page of the gallery."""
    found: list[Block] = [
        Heading("Gallery", 1),
        Paragraph(
            "Every kind of picture, with the command that makes it. The commands write PNG and SVG; these are small "
            "copies. Those of the first command are also in its `report.html`. Not shown: the plots of `workload fit`, "
            "which needs a log that states requested memory (`spillway workload fit METACENTRUM-2013-3 --out fitted`)."
        ),
    ]
    for exhibit in exhibits:
        found += [Heading(exhibit.title), Code(f"{PROGRAM} {exhibit.typed(f'results/{exhibit.name}')}")]
        found += [Image(exhibit.image(picture), picture.words) for picture in exhibit.pictures]
    return "<!-- Written by `python -m docs.tools.gallery`. Do not edit. -->\n\n" + to_markdown(found, PAGE.parent)


def make(exhibit: Exhibit, folder: Path) -> None:
    """Run an exhibit's command, unless ``folder`` has its pictures, and keep small copies of these.

    Raises
    ------
    FileNotFoundError
        The command made no picture of that name.
    """
    if not all(_found(folder, picture) for picture in exhibit.pictures):
        folder.mkdir(parents=True, exist_ok=True)
        code = cli.main(shlex.split(exhibit.typed(str(folder))))
        tell(f"{exhibit.name}: exit code {code}")
    for picture in exhibit.pictures:
        found = _found(folder, picture)
        if not found:
            raise FileNotFoundError(f"{exhibit.name}: the command made no {picture.file}")
        shrink(found[0], exhibit.image(picture))


def _found(folder: Path, picture: Picture) -> list[Path]:
    return sorted(folder.glob(picture.file))


def shrink(source: Path, target: Path) -> None:
    """Write a picture with a palette, at most :data:`WIDEST` pixels wide."""
    from PIL import Image

    with Image.open(source) as picture:
        flat = Image.new("RGB", picture.size, "white")
        flat.paste(picture, mask=picture.convert("RGBA").getchannel("A"))
        flat.thumbnail((WIDEST, 10 * WIDEST))
        target.parent.mkdir(parents=True, exist_ok=True)
        small = io.BytesIO()
        flat.quantize(COLOURS, dither=Image.Dither.NONE).save(small, format="PNG", optimize=True)
        durable.write_bytes(target, small.getvalue())


def main() -> None:
    """Make the gallery."""
    parser = argparse.ArgumentParser(prog="python -m docs.tools.gallery", description=__doc__)
    parser.add_argument("--only", action="append", choices=[one.name for one in EXHIBITS], default=[])
    parser.add_argument("--from", dest="made", type=Path, metavar="DIR", help="folders of commands that ran before")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for exhibit in EXHIBITS:
            if not options.only or exhibit.name in options.only:
                make(exhibit, (options.made or Path(scratch)) / exhibit.name)
    durable.write_text(PAGE, page())


if __name__ == "__main__":
    main()
