"""The learned policy: a run of it is the episode that the same network plays; its weights are those of this version."""

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from spillway.base.errors import OptionError
from spillway.experiments.run.codehash import modules_of
from spillway.experiments.run.single import execute as run_task
from spillway.experiments.run.spec import PolicySpec, Task
from spillway.learning import agents, network
from spillway.learning.network_policy import CHECKSUM, WEIGHTS, WINDOW, NetworkPolicy, trained
from tests.learning.worlds import CROWDED, FEASIBLE, JOBS, Rows, described, made

POLICY = "spillway.learning.network_policy:NetworkPolicy"
DAY_S = NetworkPolicy().guard
LINES = "0,0.5,1,2\n0,-0.5,3,4\n1,0.25,1,-1\n"


def _same_bytes(root: Path, rows: Rows, guard_s: float) -> int:
    """Play both ways; the number of decisions."""
    run = described(root, rows, POLICY)
    options = PolicySpec(policy=POLICY, options={"guard": guard_s}, session=run.policy.session)
    run = msgspec.structs.replace(run, policy=options, settings=run.settings | {"guard": guard_s})
    run_task(Task(run, root))
    env = made(root, rows, window=WINDOW, guard_s=guard_s, seed=run.seed, settings={"bandwidth": "aware"}, folder=root)
    result = agents.play(env, trained(), 0)
    assert (root / "out_jobs.csv").read_bytes() == (root / run.id / "jobs.csv").read_bytes()
    return int(result["decisions"])


@pytest.mark.parametrize("guard_s", [DAY_S, 30.0])
def test_a_run_of_the_policy_is_the_episode_of_its_network(guard_s: float, tmp_path: Path) -> None:
    """Byte for byte, with more waiting jobs than the window shows."""
    rows: Rows = [(second // 3, *rest) for copy in range(3) for second, *rest in CROWDED]  # type: ignore[misc]
    assert _same_bytes(tmp_path, rows, guard_s) > 40


@settings(max_examples=10, deadline=None, phases=[Phase.generate])
@given(JOBS, st.sampled_from([DAY_S, 0.0, 20.0]))
def test_any_run_of_the_policy_is_the_episode_of_its_network(rows: Rows, guard_s: float) -> None:
    """Random jobs; some are larger than the machine's buffers."""
    with tempfile.TemporaryDirectory() as folder:
        _same_bytes(Path(folder), [FEASIBLE, *rows], guard_s)


def test_it_decides_otherwise_than_its_reference(tmp_path: Path) -> None:
    """The network starts jobs in an order of its own."""
    rows: Rows = [(0, *rest) for _, *rest in CROWDED]  # type: ignore[misc]
    tables = []
    for policy in ("easy", POLICY):
        run = described(tmp_path, rows, policy)
        run_task(Task(run, tmp_path))
        tables.append((tmp_path / run.id / "jobs.csv").read_bytes())
    assert tables[0] != tables[1]


def test_a_network_by_hand(tmp_path: Path) -> None:
    """Two inputs, two units, one score; the mask excludes the better job, and actions that start no job."""
    path = tmp_path / "small.csv"
    path.write_text(LINES, encoding="ascii")
    found = network.read(path)
    nothing = np.zeros(0)
    seen = {"jobs": np.array([[0.1, 0.2], [0.3, 0.4]]), "machine": nothing, "releases": nothing, "storages": nothing}
    expected = [np.tanh(0.5 + a + 2 * b) - np.tanh(-0.5 + 3 * a + 4 * b) + 0.25 for a, b in seen["jobs"]]
    assert found.scores(seen, np.array([0, 1])) == pytest.approx(expected)
    best = int(np.argmax(expected))
    assert found(seen, np.array([True, True, True, True])) == best
    assert found(seen, np.array([best != 0, best != 1, True, True])) == 1 - best


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Up to the seven digits that are written; and written again it is the same text."""
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(5, 3)), rng.normal(size=3)), (rng.normal(size=(3, 1)), rng.normal(size=1))]
    path = tmp_path / "network.csv"
    path.write_text(network.text_of(layers), encoding="ascii")
    again = network.read(path)._layers
    for (weights, biases), (read, read_biases) in zip(layers, again, strict=True):
        assert read == pytest.approx(weights, rel=1e-6)
        assert read_biases == pytest.approx(biases, rel=1e-6)
    assert network.text_of(again) == path.read_text(encoding="ascii")


@pytest.mark.parametrize(("text", "words"), [
    ("", "end in one unit"),
    ("0,0.5,1,2\n0,0.5,1\n", "units of layer 0 have weights for different numbers of inputs"),
    ("0,0.5,1,2\n1,0.5,1,2\n", "layer 1 has 2 inputs, the one before 1 units"),
    ("0,0.5,nan\n", "no numbers"),
    ("0,0.5,one\n", "one"),
    (LINES.replace("1,0.25", "1,1,1,1\n1,0.25"), "end in one unit"),
])  # fmt: skip
def test_what_is_no_network_is_refused(text: str, words: str, tmp_path: Path) -> None:
    """In one line that names the file."""
    path = tmp_path / "broken.csv"
    path.write_text(text, encoding="ascii")
    with pytest.raises(OptionError, match=words) as refused:
        network.read(path)
    assert "broken.csv" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_other_weights_are_refused(tmp_path: Path) -> None:
    """The checksum in the code is that of the file: results of other weights are never taken for these."""
    trained()
    path = tmp_path / "learned.csv"
    path.write_bytes(WEIGHTS.read_bytes() + b"\n")
    with pytest.raises(OptionError, match="does not belong to this version"):
        network.read(path, "0" * 64)
    with pytest.raises(OptionError, match="cannot be read"):
        network.read(tmp_path / "absent.csv")
    assert WEIGHTS.stat().st_size < 60_000


def test_neither_gymnasium_nor_the_simulator_is_needed() -> None:
    """The policy runs without gymnasium; the environment's error says what is missing."""
    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import importlib.util; found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'gymnasium' else found(name, *rest)\n"
        "import spillway.learning.network_policy\n"
        "found = {part for name in sys.modules for part in name.split('.')[:2]}\n"
        "print(sorted(found & {'simulator', 'experiments', 'torch'}))\n"
        "from spillway import learning\n"
        "try: learning.SchedulingEnv\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "[]",
        "spillway.learning.SchedulingEnv needs gymnasium: pip install 'spillway[learn]'",
    ]


def test_the_hash_of_its_code_knows_what_decides() -> None:
    """Environment, network, EASY; and with the checksum in the code the weights."""
    found = modules_of("spillway.learning.network_policy")
    assert {
        "spillway.learning.chooser",
        "spillway.learning.network",
        "spillway.learning.observation",
        "spillway.schedulers.policies.backfill",
    } <= set(found)
    assert hashlib.sha256(WEIGHTS.read_bytes()).hexdigest() == CHECKSUM
