"""The documentation: generated pages cover the code, and the examples of the hand-written ones work."""

import importlib
import re
from pathlib import Path

import pytest

from docs.tools import reference
from spillway.base.options import describe
from spillway.experiments import cli
from spillway.experiments.campaign import campaign_file
from spillway.experiments.campaign.folder.summary import METRICS, OTHER_CODE, TIMINGS
from spillway.experiments.run.spec import ModelSpec, PlatformSpec, Playing, PolicySpec, WorkloadSpec
from spillway.platforms.description.fields import tables
from spillway.platforms.description.machine import read_description
from spillway.schedulers.core.session import Session
from spillway.schedulers.policies import POLICIES
from tests.kit.story import Story
from tests.properties.mini import MiniJob, MiniMachine, play
from tests.schedulers.runtimes import rigid

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """All generated pages."""
    return reference.pages()


def test_every_policy_and_option_is_listed(pages: dict[str, str]) -> None:
    """Nothing is left out, and nothing is without a meaning."""
    page = pages["policies.md"]
    for name, entry in POLICIES.items():
        assert f"| `{name}` |" in page
        assert all(f"| `{info.name}` |" in page for info in entry.options())
    assert not re.findall(r"\|  \|", page)


def test_every_campaign_key_is_listed(pages: dict[str, str]) -> None:
    """Keys of all tables, each with its meaning."""
    page = pages["campaigns.md"]
    for kind in (campaign_file.Axes, Playing, WorkloadSpec, PlatformSpec, PolicySpec, ModelSpec):
        for info in describe(kind):
            assert f"| `{info.name}` |" in page
            assert info.help


def test_every_command_is_listed(pages: dict[str, str]) -> None:
    """All command lines have a section, and options have a meaning."""
    for name in cli.COMMANDS:
        assert pages[f"commands/{name}.md"].startswith(f"{reference.NOTE}# `spillway {name}`")
        assert f"]({name}.md)" in pages["commands/index.md"]
    assert "`--thesis-literal`" in pages["commands/run.md"]
    assert not any("SUPPRESS" in page for page in pages.values())
    assert "# `spillway workload convert`" in pages["commands/workload-convert.md"]
    assert "](workload-convert.md)" in pages["commands/workload.md"]


def test_every_key_of_a_machine_is_listed(pages: dict[str, str]) -> None:
    """Each with its meaning, and the example on the page is a machine."""
    page = pages["platform.md"]
    for table in tables():
        section = page.partition(f"## `{table.title}`" if table.path else "## At the top of the file")[2]
        assert section, table.title
        listed = re.findall(r"^\| `(\w+)` \| .+ \| .* \| .+ \| (.+) \|$", section.partition("\n## ")[0], re.MULTILINE)
        assert [name for name, _ in listed] == [key.name for key in table.keys]
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    machine = read_description(example)
    assert [cluster.host_count for cluster in machine.cluster] == [240]


def test_every_column_has_a_meaning(pages: dict[str, str]) -> None:
    """The summary's columns are explained."""
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", pages["metrics.md"], re.MULTILINE))
    assert set(rows) == {*METRICS, *TIMINGS, OTHER_CODE}
    assert all(rows.values())


def test_pages_are_written(tmp_path: Path, pages: dict[str, str]) -> None:
    """The command writes the pages that the documentation includes."""
    (tmp_path / "commands").mkdir()
    (tmp_path / "commands" / "former.md").write_text("# A command that has another name now")
    written = {path.relative_to(tmp_path).as_posix() for path in reference.write(tmp_path)}
    assert written == set(pages) == {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")}
    navigation = (DOCS.parent / "mkdocs.yml").read_text()
    assert "reference/commands/" in navigation
    assert all(f"reference/{name}" in navigation for name in written if "/" not in name)


def test_the_example_policy_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy that the documentation builds is complete: it schedules, shortest first, among the first jobs."""
    text = (DOCS / "adding-a-policy.md").read_text()
    (code,) = [
        block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "class ShortestOfFirst" in block
    ]
    (tmp_path / "shortest_of_first.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    policy = importlib.import_module("shortest_of_first").ShortestOfFirst(first=2)
    played = Story()
    jobs = [MiniJob(0, 2, 100, 100), MiniJob(1, 2, 50, 50), MiniJob(2, 2, 10, 10), MiniJob(3, 2, 5, 5)]
    play(Session(policy, rigid(), observer=played), MiniMachine(2), jobs)
    assert played.starts == {"w0!0": 0, "w0!2": 100, "w0!3": 110, "w0!1": 115}


@pytest.mark.parametrize("page", ["campaigns.md", "tutorial.md"])
def test_the_example_campaigns_are_valid(page: str, tmp_path: Path) -> None:
    """Every campaign that the documentation shows is read without complaint."""
    blocks = re.findall(r"```toml\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert blocks
    for text in blocks:
        assert campaign_file.parse_campaign(text, page, tmp_path).policies
