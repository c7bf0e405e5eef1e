"""Names with what a terminal would obey: no command and no page passes it on."""

import json
from pathlib import Path

import pytest

from spillway.experiments.cli import main

SITE = """\
name = "c\\u001b]0;PWN\\u0007[/x]"
nodes = 8
[[partition]]
name = "\\u001b[31mred[/bold]\\u202e"
default = true
[[association]]
account = "[link=http://evil]a[/link]"
[[association]]
account = "[link=http://evil]a[/link]"
user = "\\u001b]0;PWN\\u0007"
[[qos]]
name = "[/]\\u001b[2J"
flags = ["[/x]\\u001b"]
[[license]]
name = "l\\u001b[1m"
count = 3
[[reservation]]
name = "[/r]\\u001b]0;X\\u0007"
start = 2026-12-01T08:00:00
length_s = 100
flags = ["\\u001b[1mZ"]
users = ["\\u001b[1mU"]
[scheduler]
others = ["\\u001b[1mq"]
preempt = "\\u001b[1m"
"""
OBEYED = {"\x1b", "\x07", "\u202e", "\x9b"}
JOBS = {
    "nb_res": 8,
    "jobs": [
        {"id": f"{n}\x1b[31m\x07", "subtime": n, "res": 8, "walltime": 20, "profile": "p", "user": f"u\x1b[2J{n}",
         "account": "\x9bA", "site_wait_s": 0, "requested_s": 20}
        for n in range(8)
    ],
    "profiles": {"p": {"type": "delay", "delay": 10}},
}  # fmt: skip


def test_a_sites_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Failed before: every name went to the terminal as it is."""
    (tmp_path / "esc.toml").write_text(SITE)
    assert main(["site", "show", str(tmp_path / "esc.toml")]) == 0
    said = "".join(capsys.readouterr())
    assert not OBEYED & set(said)
    assert "\\x1b[31mred[/bold]\\u202e" in said


@pytest.mark.parametrize("command", ["run", "whatif"])
def test_names_of_jobs_users_and_the_site(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines, tables and the page."""
    (tmp_path / "w.json").write_text(json.dumps(JOBS))
    (tmp_path / "esc.toml").write_text(SITE)
    arguments = [command, str(tmp_path / "w.json"), "--platform", "nodes:8", "--site", str(tmp_path / "esc.toml")]
    arguments += ["--begins", "2026-11-01T00:00:00", "-p", "easy", "--out", str(tmp_path / "out")]
    arguments += ["--set", "load=x1.1", "--shakes", "0"] if command == "whatif" else []
    assert main(arguments) == 0, capsys.readouterr().err
    assert main(["report", str(tmp_path / "out")]) == 0
    assert not OBEYED & set("".join(capsys.readouterr()))
    assert not OBEYED & set((tmp_path / "out" / "report.html").read_text())
