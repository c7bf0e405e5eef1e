"""Set-up and tear-down of burst buffers: times of the site's, in which the buffer is in use and the nodes are not."""

from typing import Any

import pytest

from spillway.schedulers.core.admission import drawn
from spillway.schedulers.model.site import Site, site_text
from spillway.schedulers.model.site_parts import Buffers
from tests.kit.specs import session_spec
from tests.schedulers.lives.story import GB, TINY, job, play

PROFILES: dict[str, Any] = {
    "short": {"type": "delay", "delay": 10},
    "own": {"type": "delay", "delay": 10, "stage_in_s": 4},
}
SITE = site_text(Site(buffers=Buffers(kind="lua", setup_s=46, teardown_s=93)))


def starts(settings: dict[str, Any], model: str = "rigid") -> dict[str, float]:
    """Starts of three jobs; the first two need all burst buffers, one after the other."""
    jobs = [
        job("first", 0, 2, "short", walltime=60, bb=10 * GB),
        job("second", 1, 2, "own", walltime=60, bb=10 * GB),
        job("without", 2, 2, "short", walltime=60),
    ]
    return play(TINY, session_spec("fcfs", settings=settings), jobs, PROFILES).starts


def test_by_hand() -> None:
    """El Capitan's 46 and 93 s: first is set up at 46, ends at 56, is gone at 149; second: 149 + 46 + 4 = 199."""
    found = starts({"bb_life": "slurm", "site": SITE})
    assert found["first"] == pytest.approx(46, abs=0.01)
    assert found["second"] == pytest.approx(199, abs=0.02)
    assert found["without"] == pytest.approx(2, abs=0.01)


@pytest.mark.parametrize("policy", ["fcfs", "easy", "slurm-backfill"])
@pytest.mark.parametrize("life", ["slurm", "standby"])
def test_a_buffer_that_cannot_be_made(policy: str, life: str) -> None:
    """First is rejected when it is set up, at 46 s; then second has the buffer, and starts at 46 + 46 + 4 = 96 s."""
    jobs = [
        job("first", 0, 2, "short", walltime=60, bb=10 * GB, bb_fails=True),
        job("second", 1, 2, "own", walltime=60, bb=10 * GB),
    ]
    story = play(TINY, session_spec(policy, settings={"bb_life": life, "site": SITE}), jobs, PROFILES)
    assert story.refused == {"first": "its burst buffer could not be made"}
    assert story.starts == {"second": pytest.approx(96, abs=1.1 if policy == "slurm-backfill" else 0.02)}


@pytest.mark.parametrize(("policy", "start_s"), [("fcfs", 0), ("easy", 0), ("slurm-backfill", 30)])
def test_a_buffer_that_becomes_free_is_given_and_filled_at_once(policy: str, start_s: float) -> None:
    """First's buffer cannot be made, which is seen at once; second gets it and starts in this pass, or Slurm's next."""
    jobs = [
        job("first", 0, 2, "short", walltime=60, bb=10 * GB, bb_fails=True),
        job("second", 0, 2, "short", walltime=60, bb=10 * GB),
    ]
    story = play(TINY, session_spec(policy, settings={"bb_life": "slurm"}), jobs, PROFILES)
    assert story.refused == {"first": "its burst buffer could not be made"}
    assert story.starts == {"second": pytest.approx(start_s, abs=0.02)}


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_drawn_failures(share: float) -> None:
    """One draw for each job, by its id: the same in each run, about the share of them."""
    site = site_text(Site(buffers=Buffers(setup_s=1, failing=share, failing_seed=7)))
    jobs = [job(f"j{number}", number, 1, "short", walltime=60, bb=GB // 100) for number in range(40)]
    spec = session_spec("fcfs", settings={"bb_life": "slurm", "site": site})
    found = [sorted(play(TINY, spec, jobs, PROFILES).refused) for _ in range(2)]
    assert (
        found[0] == found[1] == sorted(name for name in (f"j{n}" for n in range(40)) if drawn(f"w0!{name}", 7) < share)
    )
    assert abs(len(found[0]) - 40 * share) < 8


def test_without_the_times() -> None:
    """The same jobs where a buffer is there at once: 0 and 10 + 4."""
    found = starts({"bb_life": "slurm"})
    assert found["first"] == pytest.approx(0, abs=0.01)
    assert found["second"] == pytest.approx(14, abs=0.02)
