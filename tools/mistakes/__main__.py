"""``python -m tools.mistakes``: writes ``tests/data/mistakes.txt`` from the output of the commands."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tools.mistakes.table import GROUPS, LINES, folder, made, text

with tempfile.TemporaryDirectory() as work, folder(Path(work)):
    lines = {command: made(command) for commands in GROUPS.values() for command in commands}
for line_command, (code, printed) in lines.items():
    if code != 2 or printed.count("\n") != 1:
        print(f"{line_command}: exit code {code}, {printed!r}")
LINES.write_text(text({line_command: printed.rstrip("\n") for line_command, (_, printed) in lines.items()}))
print(LINES.name)
