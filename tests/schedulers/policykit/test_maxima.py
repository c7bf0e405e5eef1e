"""A site's maxima per node: the same for a job's fields as for directives."""

from pathlib import Path
from typing import Any

import pytest

from spillway.base.errors import OptionError
from spillway.schedulers.model.job import read_job
from spillway.schedulers.policykit.maxima import parse_maxima
from spillway.workloads.requests.directives import directives_of
from spillway.workloads.requests.fields import Site, fields_of, read_site
from tests.kit.specs import session_spec
from tests.properties.outage_world import play

GB = 10**9


@pytest.mark.parametrize("kind", ["xfs", "gfs2", "raw", "lustre"])
def test_as_a_site_states_them(kind: str, reference: Path) -> None:
    """At its maximum a request is taken, one byte per node more is refused: by the site's file and by the setting."""
    site = read_site(reference / "data/sites/rabbit/rabbit.toml")
    maxima = parse_maxima(",".join(f"{name}={most}" for name, most in site.maximums.items()))
    nodes, most = 4, site.maximums[kind]
    for excess in (0, 1):
        size = (most + excess) * (nodes if kind == "lustre" else 1)
        requests = directives_of([f"#DW jobdw type={kind} capacity={size} name=x"], "")
        fields = fields_of(requests, nodes, Site())
        assert fields["bb_kind"] == kind
        job = read_job("w0!1", {"id": "w0!1", "res": nodes} | fields, {}, 0, 0.0)
        assert len(list(site.refusals(requests, nodes))) == excess
        assert (maxima.refuses(job) is not None) == bool(excess), maxima.refuses(job)


@pytest.mark.parametrize(("fields", "reason"), [
    ({"bb": 2 * GB}, ""),
    ({"bb": 3 * GB}, "bb 3 GB per node > 2 GB that the site allows for 'node' (bb_maxima)"),
    ({"bb": 3 * GB, "bb_kind": "xfs"}, ""),
    ({"bb": 5 * GB, "bb_kind": "xfs"}, "bb 5 GB per node > 4 GB that the site allows for 'xfs' (bb_maxima)"),
    ({"bb_total": 4 * GB, "bb_stripes": 2}, ""),
    ({"bb_total": 5 * GB}, "bb 1.25 GB per node > 1 GB that the site allows for 'job' (bb_maxima)"),
])  # fmt: skip
def test_a_job_beyond_is_rejected(fields: dict[str, Any], reason: str, tmp_path: Path) -> None:
    """With the inequality, in a run; all others run."""
    job = {"id": "1", "subtime": 0, "res": 4, "profile": "p", "walltime": 100} | fields
    data = {"nb_res": 8, "jobs": [job], "profiles": {"p": {"type": "delay", "delay": 1.0}}}
    settings = {"bb_maxima": "node=2e9, xfs=4e9, job=1000000000", "bb_life": "slurm"}
    played = play(tmp_path, session_spec("easy", model="rigid", settings=settings), data, [])
    assert [state.value for state in played.watch.states.values()] == [
        "REJECTED" if reason else "COMPLETED_SUCCESSFULLY"
    ]
    assert played.watch.reasons == ([reason] if reason else [])


@pytest.mark.parametrize("text", ["xfs", "=5", "xfs=-1", "xfs=nan", "xfs=1e30", "xfs=1,xfs=2", "xfs=1,", "xfs=5GiB"])
def test_another_form_is_refused(text: str) -> None:
    """When the options are read, with an example."""
    spec = session_spec("easy", settings={"bb_maxima": text})
    with pytest.raises(OptionError, match=r"setting bb_maxima must be KIND=BYTES.* such as xfs=5e11,lustre=1e11"):
        spec.session()
