"""Small machines on which hand cases are played: the embedded simulator, in process, with malleable jobs."""

from collections.abc import Mapping
from typing import Any

from spillway.base.options import build, describe
from spillway.platforms.catalogue import builtin_files
from spillway.platforms.description.generate import generate
from spillway.platforms.description.machine import read_description
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels import make_model
from spillway.schedulers.jobmodels.app_record import finished
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.policies import POLICIES
from tests.kit.play import converse
from tests.kit.story import Story

MACHINE = """
name = "small"
topology = "tree"
[[cluster]]
name = "small"
uplink = {{ name = "core", bandwidth = "{core}" }}
levels = [
  {{ name = "switch", count = 2, bandwidth = "{switch}" }},
  {{ name = "node", count = {nodes}, bandwidth = "100GBps", duplex = true }},
]
[storage]
per = "switch"
capacity = "{capacity}"
bandwidth = "100GBps"
[pfs]
bandwidth = "100GBps"
"""
"""Two switches; ``nodes`` below each, and a burst buffer of ``capacity`` at each."""


class Seen(Story):
    """What happens, by the jobs' names, and the sizes of applications.

    Times in hundredths of a second: each sub-job ends some tenths of a millisecond late, as messages take time.
    """

    def __init__(self) -> None:
        super().__init__("name", 2)
        self.sizes: dict[str, list[tuple[float, int]]] = {}

    def recorded(self, record: JobRecord) -> None:
        """A job has ended."""
        app = finished(record)
        if app is not None:
            self.sizes[app.job.name] = [(round(time_s, 2), nodes) for time_s, nodes in app.sizes]


def application(**changes: Any) -> dict[str, Any]:
    """Ten iterations of 40/n s, control points every two, 1 to 4 nodes, reconfigurations of 3 s, no I/O."""
    return {"iterations": 10, "control_every": 2, "minimum": 1, "maximum": 4, "overhead": 3.0,
            "model": {"work": 40.0}} | changes  # fmt: skip


def play(
    jobs: Mapping[str, dict[str, Any]],
    policy: str = "fcfs",
    *,
    nodes: int = 4,
    capacity: str = "1TB",
    core: str = "100GBps",
    switch: str = "100GBps",
    **given: Any,
) -> Seen:
    """Play jobs on a machine of ``nodes`` nodes at two switches, with the settings ``given``.

    A job is ``{"nodes": ..., "subtime": ..., "delay": ...}`` or has ``malleable`` for a delay; ``walltime``, ``bb`` and
    ``io_rate`` may be added. All books are checked after every message.
    """
    text = MACHINE.format(nodes=nodes // 2, capacity=capacity, core=core, switch=switch)
    platform = parse_platform(generate(read_description(text, "small", builtin_files())), "small")
    seen = Seen()
    shared = {info.name for info in describe(Settings)}
    settings = build(Settings, {key: value for key, value in given.items() if key in shared})
    model = make_model("malleable", {key: value for key, value in given.items() if key not in shared})
    session: Session = assemble(POLICIES[policy].build({}), settings, model, observer=seen, on_record=seen.recorded)

    wire, profiles = [], {}
    for name, job in jobs.items():
        profiles[name] = {"type": "delay", "delay": job.get("delay", 10.0)} | {
            key: job[key] for key in ("malleable", "bb", "io_rate") if key in job
        }
        one = {"id": name, "subtime": job.get("subtime", 0.0), "res": job["nodes"], "profile": name}
        wire.append(one | ({"walltime": job["walltime"]} if "walltime" in job else {}))
    data = {"nb_res": nodes, "jobs": wire, "profiles": profiles}
    converse(session, platform, data, dynamic_jobs=True, profile_reuse=True, fail_on_deadlock=True)
    assert len(session.book.free_nodes()) == nodes
    session.book.check()
    return seen
