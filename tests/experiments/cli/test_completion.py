"""Shell completion: the script is sourced by a real bash, and completes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from spillway.experiments.cli import main


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


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_loads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As an autoloaded function of a folder of fpath, and evaluated in a start-up file."""
    assert main(["completion", "zsh"]) == 0
    script = tmp_path / "_spillway"
    script.write_text(capsys.readouterr().out)
    start = f"autoload -U compinit; compinit -u -d {tmp_path}/dump"
    for text, function in (
        (f"fpath=({tmp_path} $fpath); {start}; autoload +X _spillway", "_spillway"),
        (f'{start}; eval "$(<{script})"', "_shtab_spillway"),
    ):
        done = subprocess.run(
            ["zsh", "-f", "-c", f"{text}; echo ${{_comps[spillway]}}"], capture_output=True, text=True
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{function}\n", "")
