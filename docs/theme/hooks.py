"""MkDocs beside its plugins: pages of notebooks, generated folders in the navigation, captions and dark pictures."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PICTURE = re.compile(r'<p><img alt="([^"]*)" src="([^"]+)\.png" /></p>')
OPTION = re.compile(r"(?<!</span>)<code>(-[^<\n]{1,28})</code>")
"""Names of options, in sentences: a browser would break a line behind their hyphens."""
GROUND, INK = (30, 33, 41), (226, 228, 233)
"""The theme's dark page, and its text."""

CODE_CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give each page of a folder named in the navigation (``reference/commands/``) its own entry."""
    config.nav = _expanded(config.nav or [], Path(config.docs_dir))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Turn each notebook into a page with its kept outputs (the file stays, to download); darken copies of pictures."""
    from nbconvert import MarkdownExporter

    for notebook in [file for file in files if file.src_uri.endswith(".ipynb")]:
        name = Path(notebook.src_uri).stem
        text, resources = MarkdownExporter().from_filename(str(notebook.abs_src_path))
        folder = notebook.src_uri.rpartition("/")[0]
        for image, data in resources["outputs"].items():
            files.append(File.generated(config, f"{folder}/{name}-{image}", content=data))
            text = text.replace(f"({image})", f"({name}-{image})")
        text += f"\n\n[This page as a notebook]({name}.ipynb){{: download }}\n"
        files.append(File.generated(config, f"{folder}/{name}.md", content=text))
    for picture in [file for file in files if file.src_uri.endswith(".png")]:
        name = f"{picture.src_uri.removesuffix('.png')}-dark.png"
        files.append(File.generated(config, name, content=_dark(picture.content_bytes)))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    r"""Show ``|`` in a table's code as it is (the source must say ``\|``), and pictures with captions, dark on dark."""
    html = PICTURE.sub(_figure, html)
    html = OPTION.sub(r'<code class="option">\1</code>', html)
    return CODE_CELL.sub(lambda cell: cell[0].replace("\\|", "|"), html)


def _figure(found: re.Match[str]) -> str:
    """A picture and its dark copy, of which the theme shows one, with its text as caption (notebooks have none)."""
    words, place = found[1], found[2]
    caption = f"<figcaption>{words}</figcaption>" if words != "png" else ""
    images = "".join(
        f'<img alt="{words}" src="{place}{copy}.png#only-{ground}">'
        for copy, ground in (("", "light"), ("-dark", "dark"))
    )
    return f"<figure>{images}{caption}</figure>"


def _dark(data: bytes) -> bytes:
    """A copy of a picture for dark pages: light and dark tints and greys change places, strong colours stay."""
    import numpy as np
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        flat = Image.new("RGBA", picture.size, "white")
        flat.alpha_composite(picture.convert("RGBA"))
    pixels = np.asarray(flat.convert("RGB"), dtype=np.float32)
    most, least = pixels.max(axis=2, keepdims=True), pixels.min(axis=2, keepdims=True)
    chroma = most - least
    kept = np.clip(np.minimum(3 * chroma / np.maximum(most, 1) - 1, (chroma - 20) / 60), 0, 1)
    turned = (pixels + 255 - most - least) / 255
    turned = np.asarray(GROUND) * (1 - turned) + np.asarray(INK) * turned
    copy = Image.fromarray((kept * pixels + (1 - kept) * turned).round().astype(np.uint8))
    written = io.BytesIO()
    copy.quantize(192, dither=Image.Dither.NONE).save(written, format="PNG")
    return written.getvalue()


def _expanded(entries: list[Any], docs: Path) -> list[Any]:
    found = []
    for entry in entries:
        if isinstance(entry, dict):
            ((title, value),) = entry.items()
            if isinstance(value, list):
                entry = {title: _expanded(value, docs)}
            elif isinstance(value, str) and value.endswith("/"):
                entry = {title: _pages(value, docs)}
        found.append(entry)
    return found


def _pages(folder: str, docs: Path) -> list[Any]:
    """The pages of a folder: its index first; commands in the groups of the command line, each before its actions."""
    from spillway.experiments.cli import COMMANDS, GROUPS

    names = sorted(path.stem for path in (docs / folder).glob("*.md") if path.stem != "index")
    of = {name: max((one for one in COMMANDS if f"{name}-".startswith(f"{one}-")), key=len) for name in names}
    groups = {
        group: [f"{folder}{name}.md" for one in commands for name in names if of[name] == one]
        for group, commands in GROUPS.items()
    }
    return [f"{folder}index.md", *({group[:1].upper() + group[1:]: pages} for group, pages in groups.items())]
