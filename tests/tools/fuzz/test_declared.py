"""A few worlds of ``python -m tools.fuzz declared``, and declarations without a draw."""

import pytest

from spillway.schedulers.model.job import JobField
from tools.fuzz import declared
from tools.fuzz.declared import main, undrawn


def test_every_declaration_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new field of a job, and a field of a site whose type does not say enough, are named."""
    assert undrawn() == []
    monkeypatch.setattr(declared, "SITE_FIELDS", (*declared.SITE_FIELDS, JobField("colour", "job", "text", "new")))
    monkeypatch.delitem(declared.SITE_DRAWS, "Qos.name")  # type: ignore[arg-type]
    assert undrawn() == ["colour", "Site.qos", "Qos.name"]


def test_a_few_worlds(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is found in them."""
    assert main(["--worlds", "40", "--seed", "7"]) == 0
    assert "40 worlds played" in capsys.readouterr().out
