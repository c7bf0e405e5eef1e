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

import msgspec

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


class _Exhibits(msgspec.Struct):
    exhibit: tuple[Exhibit, ...]


EXHIBITS = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_Exhibits).exhibit


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
