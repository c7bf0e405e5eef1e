"""Tables on terminals of all widths."""

import ast
import io
from pathlib import Path

import pytest
from rich.console import Console

from spillway.analysis.document.blocks import Block, Code, Heading, Listing, Paragraph, Section, Table, Terms
from spillway.analysis.document.terminal import Terminal, show, write


def printed(table: Table, width: int, names: int = 1) -> list[str]:
    """The lines of a table."""
    stream = io.StringIO()
    show(Console(file=stream, width=width), table, "title", names=names)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("name", ["storage.capacity=+20%", "a name of more than twenty-four characters"])
def test_the_last_column_of_a_wide_table_is_not_cut_off(name: str, width: int) -> None:
    """Was: names took their width after the others had shrunk, and the right columns were lost."""
    table = Table(("setting", "policy", *(f"figure {place}" for place in range(5))), [(name, "easy", *["-46 %"] * 5)])
    lines = printed(table, width, 2)
    assert all(line.rstrip()[-1] in "┓┃┩│┘" for line in lines[1:])
    assert {len(line.rstrip()) for line in lines[1:]} == {len(lines[1])}
    assert any(name.split()[0] in line for line in lines)


def test_names_are_whole_where_there_is_room() -> None:
    """Only a narrow terminal breaks them."""
    name = "a name of more than twenty-four characters"
    assert any(name in line for line in printed(Table(("policy", "figure"), [(name, "1")]), 100))


HOSTILE = "a\x1b]0;name\x07\x1b[2J\u202eb"
"""Would name a terminal's window, clear it, and turn the direction of writing."""


def test_no_terminal_obeys_a_name() -> None:
    """In every block, in what a console prints itself, and in its markup; the colours of a style are there."""
    stream = io.StringIO()
    console = Terminal(file=stream, width=120, force_terminal=True)
    blocks: list[Block] = [Heading(HOSTILE, 1), Paragraph(HOSTILE), Listing((HOSTILE,)), Terms([(HOSTILE, (HOSTILE,))])]
    write(console, [*blocks, Code(HOSTILE), Section([Table((HOSTILE,), [(HOSTILE,)])])])
    console.print(HOSTILE)
    console.print(f"[bold]{HOSTILE}[/]")
    printed = stream.getvalue()
    assert "\x1b[1m" in printed
    assert not {"\x07", "\u202e"} & {*printed}
    assert "\x1b]" not in printed
    assert "\x1b[2J" not in printed
    assert printed.count("\\x1b]0;name\\x07") >= 7


ROOT = Path(__file__).parents[3]
WRITERS = {"base/arguments.py", "analysis/document/terminal.py"}
"""The files that write to the standard streams; all others call them."""
CALLS = {"print", "Console", "sys.stdout.write", "sys.stderr.write", "sys.stdout.buffer.write"}
BYTES = {"experiments/run/docker_engine.py"}
"""A container's own output, passed on as bytes."""


def test_everything_that_is_printed_goes_through_one_writer() -> None:
    """No other file of the product prints, writes to a standard stream, or makes a console of its own."""
    files = {path.resolve().relative_to(ROOT).as_posix(): path for path in (ROOT / "spillway").glob("*/**/*.py")}
    found = [
        f"{name}:{node.lineno}: {ast.unparse(node.func)}"
        for name, path in sorted(files.items())
        if name not in WRITERS | BYTES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in CALLS
    ]
    assert len(files) > 300
    assert found == []
