"""Searches for unreachable objects: rare while a command runs, omitted at its end, and as before afterwards."""

import gc
import subprocess
import sys

import pytest

from spillway.base.garbage_collection import OBJECTS, collecting_rarely


def test_searches_are_rare_and_as_before_afterwards() -> None:
    """Also where the enclosed code failed."""
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), collecting_rarely():
        1 / (gc.get_threshold() != (OBJECTS, *before[1:]))
    assert gc.get_threshold() == before


def test_a_process_ends_without_a_search() -> None:
    """Python searches for garbage when it exits (first result), unless this is switched off (second)."""
    script = (
        "import gc, sys\nfrom spillway.base.garbage_collection import end_without_search\n"
        "if {quick}: end_without_search()\n"
        "class Node:\n    def __del__(self, write=sys.stdout.write): write('found')\n"
        "node = Node(); node.itself = node; gc.disable()\ndel node\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", script.format(quick=quick)], capture_output=True, text=True, check=True
        ).stdout
        for quick in (False, True)
    ]
    assert said == ["found", ""]
