"""The environment: gymnasium's own checks, the policies' runs byte for byte, determinism, correct masks."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from spillway import learning
from spillway.base.errors import InputError, OptionError
from spillway.experiments.run.single import execute as run_task
from spillway.experiments.run.spec import Task
from spillway.learning import SchedulingEnv, agents
from tests.learning.worlds import CROWDED, FEASIBLE, JOBS, Rows, described, made
from tests.schedulers.guard import check_start


def test_gymnasiums_own_checks(tmp_path: Path) -> None:
    """Spaces, seeds, types."""
    check_env(made(tmp_path, CROWDED, jobs=10, window=4), skip_render_check=True)


@pytest.mark.parametrize("policy", ["easy", "plan", "conservative"])
def test_left_to_a_policy_the_run_is_that_policys(policy: str, tmp_path: Path) -> None:
    """The same table of jobs, byte for byte, on a machine with scarce nodes and scarce buffers."""
    run = described(tmp_path, CROWDED, policy)
    run_task(Task(run, tmp_path))
    env = SchedulingEnv(
        str(tmp_path / run.workload.path), str(tmp_path / run.platform.path), jobs=None, reference=policy, window=5,
        seed=run.seed, settings={"bandwidth": "aware"}, folder=tmp_path,
    )  # fmt: skip
    result = agents.play(env, agents.reference, 0)
    assert result["decisions"] > 5
    assert (tmp_path / "out_jobs.csv").read_bytes() == (tmp_path / run.id / "jobs.csv").read_bytes()


@settings(max_examples=10, deadline=None, phases=[Phase.generate])
@given(JOBS, st.sampled_from(["easy", "plan"]), st.integers(1, 4))
def test_left_to_a_policy_any_run_is_that_policys(rows: Rows, policy: str, window: int) -> None:
    """Random jobs; some are larger than the machine's buffers."""
    rows = [FEASIBLE, *rows]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        run = described(root, rows, policy)
        run_task(Task(run, root))
        env = SchedulingEnv(
            str(root / run.workload.path), str(root / run.platform.path), jobs=None, reference=policy, window=window,
            seed=run.seed, folder=root,
        )  # fmt: skip
        agents.play(env, agents.reference, 0)
        assert (root / "out_jobs.csv").read_bytes() == (root / run.id / "jobs.csv").read_bytes()


def _play(env: SchedulingEnv, seed: int) -> list[Any]:
    """All that comes out of an episode with random valid actions."""
    agent = agents.RandomAgent(seed)
    seen, info = env.reset(seed=seed)
    everything: list[Any] = [seen["jobs"].tobytes()]
    over = False
    while not over:
        seen, reward, over, _, info = env.step(np.int64(agent(seen, info["action_mask"])))
        everything += [reward, *(seen[name].tobytes() for name in sorted(seen)), info["action_mask"].tobytes()]
    return [*everything, info["mean_wait_s"]]


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    """Observations, rewards and masks, after any earlier episodes; another seed draws another episode."""
    first, second = (made(tmp_path, CROWDED, jobs=12, window=4) for _ in range(2))
    _play(second, 7)
    assert _play(first, 3) == _play(second, 3)
    assert _play(first, 4) != _play(first, 3)


@settings(max_examples=25, deadline=None, phases=[Phase.generate])
@given(st.data(), JOBS, st.sampled_from(["easy", "plan", "filler"]), st.sampled_from([float("inf"), 0.0, 20.0]))
def test_the_mask_says_the_truth(data: st.DataObject, rows: Rows, reference: str, guard_s: float) -> None:
    """The guard accepts allowed actions; excluded ones that do not fit are refused by the guard or the timeline."""
    rows = [FEASIBLE, *rows]
    with tempfile.TemporaryDirectory() as folder:
        env = made(Path(folder), rows, reference=reference, guard_s=guard_s, window=3)
        _, info = env.reset(seed=0)
        over = False
        while not over:
            turn, mask = env._turn, info["action_mask"]
            assert turn is not None
            assert mask[env.reference]
            assert mask.sum() >= 2, "there is nothing to choose"
            cluster = env._episode._session.book  # type: ignore[union-attr]
            for place, job in enumerate(turn.jobs):
                allocation = turn.view.timeline.fit_now(job, job.walltime_s)
                if mask[place]:
                    assert allocation is not None
                    check_start(cluster, job, allocation)
                elif guard_s == float("inf"):
                    assert allocation is None
            assert not mask[len(turn.jobs) : env.reference].any()
            action = data.draw(st.integers(0, env.wait))
            seen, _, over, _, info = env.step(np.int64(action))
            assert info["invalid"] == (not mask[action])
            assert env.observation_space.contains(seen)
            if action < env.reference and mask[action] and not over:
                assert turn.jobs[action].id not in env._episode._session.line  # type: ignore[union-attr]
        assert info["jobs"] + info["rejected"] == len(rows)


def test_the_sum_of_rewards_is_minus_the_mean_wait(tmp_path: Path) -> None:
    """In hours; with the other reward minus the waiting by walltimes, 600 s at least."""
    for seed in range(3):
        result = agents.play(made(tmp_path, CROWDED), agents.RandomAgent(seed), seed)
        assert result["return"] == pytest.approx(-result["mean_wait_s"] / 3600, rel=1e-9)
        by_walltime = agents.play(made(tmp_path, CROWDED, reward="slowdown"), agents.RandomAgent(seed), seed)
        assert by_walltime["mean_wait_s"] == result["mean_wait_s"]
        assert by_walltime["return"] == pytest.approx(-result["mean_wait_s"] / 600, rel=1e-9)


def test_nothing_waits_for_ever(tmp_path: Path) -> None:
    """Waiting as often as it is valid ends, for something must run."""
    result = agents.play(made(tmp_path, CROWDED), lambda _, mask: int(np.flatnonzero(mask)[-1]), 0)
    assert result["jobs"] == len(CROWDED)


def test_the_guard_bounds_how_long_choices_delay_the_oldest_job(tmp_path: Path) -> None:
    """A wide job among narrow ones: an agent that avoids it starves it to the end; with the guard it may not."""
    narrow: Rows = [(2 * number, 1, 20.0, 0, 0, 30, False) for number in range(100)]
    rows: Rows = [*narrow[:8], (15, 8, 7.5, 0, 0, 12, False), *narrow[8:]]

    def avoids(seen: Any, mask: Any) -> int:
        sizes = np.where(mask[: len(seen["jobs"])], seen["jobs"][:, 0], np.inf)
        return int(sizes.argmin()) if sizes.min() < 1.0 else int(np.flatnonzero(mask)[-1])

    def last_start_s(guard_s: float) -> float:
        env = made(tmp_path, rows, guard_s=guard_s, folder=tmp_path)
        agents.play(env, avoids, 0)
        [row] = [line.split(",") for line in (tmp_path / "out_jobs.csv").read_text().splitlines() if ",8,12." in line]
        return float(row[8])

    starved, guarded = last_start_s(float("inf")), last_start_s(60.0)
    assert starved > 220.0
    assert guarded <= 15.0 + 60.0 + 30.0 + 1.0


def test_vectorised(tmp_path: Path) -> None:
    """By gymnasium's name, in one process and in several: the same observations."""
    made(tmp_path, CROWDED)
    given_options = {"workload": str(tmp_path / "small.json"), "platform": "tiny", "jobs": 12, "window": 4}
    seen = []
    for mode in ("sync", "async"):
        both = gymnasium.make_vec(learning.ID, num_envs=2, vectorization_mode=mode, **given_options)
        first, _ = both.reset(seed=[1, 2])
        then = both.step(np.array([4, 4]))
        seen.append((first["jobs"].tobytes(), then[0]["jobs"].tobytes(), then[1].tolist()))
        both.close()
    assert seen[0] == seen[1]


def test_no_command_line_is_needed() -> None:
    """The import loads neither the driver nor the analysis."""
    code = (
        "import sys, spillway.learning; "
        "print({'.'.join(name.split('.')[:2]) for name in sys.modules} & {'spillway.experiments', 'spillway.analysis'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(("options", "words"), [
    ({"window": 0}, "window=0: expected from 1 to 1024 jobs"),
    ({"guard_s": float("nan")}, "guard_s=nan"),
    ({"engine": "warp"}, "engine='warp': expected one of fluid"),
    ({"reward": "praise"}, "reward='praise': expected one of wait, slowdown"),
    ({"jobs": 31}, "jobs=31: an episode has from 1 to 30 jobs"),
    ({"reference": "eazy"}, "eazy"),
    ({"reference": "gang"}, "share nodes in time"),
    ({"settings": {"bb_life": "slurm"}}, "bb_life"),
])  # fmt: skip
def test_wrong_options_are_refused_in_one_line(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    """When the environment is made."""
    with pytest.raises(InputError, match=words) as refused:
        made(tmp_path, CROWDED, **options)
    assert "\n" not in str(refused.value)


def test_wrong_steps_are_refused(tmp_path: Path) -> None:
    """Before the first reset, after the end, and numbers that are no action."""
    env = made(tmp_path, CROWDED[:2])
    with pytest.raises(InputError, match="call reset"):
        env.step(np.int64(0))
    env.reset(seed=0)
    with pytest.raises(InputError, match="from 0 to 33"):
        env.step(np.int64(34))
    agents.play(env, agents.greedy, 0)
    assert not env.action_masks().any()
    with pytest.raises(InputError, match="call reset"):
        env.step(np.int64(0))


def test_a_workload_without_a_choice_is_refused(tmp_path: Path) -> None:
    """Every job is larger than the machine."""
    env = made(tmp_path, [(0, 9, 1.0, 0, 0, 12, False)])
    with pytest.raises(InputError, match="nothing to choose"):
        env.reset(seed=0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"jobs": "x"}, "jobs='x': an episode has from 1"),
        ({"window": 1.5}, "window=1.5: expected from 1"),
        ({"guard_s": "x"}, "guard_s='x': expected a number"),
        ({"workload": 5}, "workload: expected a text, got 5"),
        ({"reference": str}, "reference: expected a text, got <class 'str'>"),
        ({"settings": 5}, "settings: expected values by name, got 5"),
        ({"seed": "x"}, "seed: expected a whole number, got 'x'"),
    ],
)
def test_values_of_another_type_are_refused(given: dict[str, Any], words: str) -> None:
    """They were errors of Python's."""
    with pytest.raises(OptionError, match=re.escape(words)):
        SchedulingEnv(**{"jobs": 4, "workload": "kth-like:jobs=20", **given})


@pytest.mark.parametrize("action", [1.5, "a", None, True, np.array([0])])
def test_an_action_is_a_whole_number(action: Any) -> None:
    """1.5 was taken for 1."""
    env = SchedulingEnv("kth-like:jobs=20", jobs=4)
    env.reset(seed=1)
    with pytest.raises(OptionError, match="expected a whole number from 0 to 33"):
        env.step(action)
    env.step(np.array(0))  # type: ignore[arg-type]
