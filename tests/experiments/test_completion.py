"""Shell completion: the script is sourced by a real bash, and completes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from experiments.cli import main


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands, actions, options and choices."""
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "spillway.bash"
    script.write_text(capsys.readouterr().out)

    def completed(*words: str) -> set[str]:
        line = " ".join(f"'{word}'" for word in words)
        text = (
            f"source {script}; name=$(complete -p spillway | sed 's/.*-F //; s/ .*//'); "
            f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; $name; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
        return {word.strip() for word in done.stdout.split()}

    assert completed("spillway", "rep") == {"report"}
    assert completed("spillway", "study", "ga") == {"gang"}
    assert "convert" in completed("spillway", "workload", "con")
    assert "--workload" in completed("spillway", "run", "--work")
    assert completed("spillway", "run", "--engine", "flu") == {"fluid"}
