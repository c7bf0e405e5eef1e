"""What MkDocs does here beside its plugins: notebooks become pages, generated folders parts of the navigation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

CODE_CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give each page of a folder named in the navigation (``reference/commands/``) its own entry."""
    config.nav = _expanded(config.nav or [], Path(config.docs_dir))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Turn each notebook into a Markdown page with its kept outputs; the notebook stays as a file to download."""
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
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    r"""Show ``|`` in a table's code as what it is: the source must say ``\|`` there, and GitHub shows it so, too."""
    return CODE_CELL.sub(lambda cell: cell[0].replace("\\|", "|"), html)


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
