"""Z3 as an alternative: the same answers, limited by its own resource count."""

import sys
from subprocess import run

from hypothesis import given, settings

from spillway.schedulers.search.packing import PackingAnswer
from spillway.schedulers.search.subset import SubsetProblem
from spillway.schedulers.search.subset_z3 import Z3Packer
from tests.reference.search import pack_plain
from tests.schedulers.search.problems import is_packing, problems


@settings(max_examples=40)
@given(problems(5))
def test_packer_agrees_with_trying_everything(problem: SubsetProblem) -> None:
    """The verdict is right, and a packing packs."""
    items = [i for i in range(len(problem.units)) if problem.sizes[i] > 0]
    units, sizes = problem.of(items)
    found = Z3Packer(0).pack(units, sizes, problem.capacities)
    assert (found.verdict is PackingAnswer.YES) is pack_plain(units, sizes, problem.capacities)
    if found.verdict is PackingAnswer.YES:
        assert is_packing(units, sizes, problem.capacities, found.taken)


def test_limit_leaves_the_proof_open() -> None:
    """With hardly any resources a packing stays undecided."""
    capacities = [1430, 1990, 3430, 9100, 10050, 12940, 21200, 22880, 28100, 30490, 37360, 40000]
    problem = SubsetProblem([1, 6, 4, 2, 13], [17550, 10200, 9770, 6590, 5840], [1.0] * 5, 30, capacities)
    assert Z3Packer(1).pack(problem.units, problem.sizes, capacities).verdict is PackingAnswer.UNDECIDED


def test_same_question_same_answer() -> None:
    """A packing does not depend on earlier ones."""
    question = ([3, 2, 4], [7, 5, 2], [12, 14, 9, 11])
    first = Z3Packer(100_000).pack(*question)
    Z3Packer(100_000).pack([5], [3], [4, 4, 9])
    again = Z3Packer(100_000).pack(*question)
    assert first.verdict is PackingAnswer.YES
    assert first.taken.tolist() == again.taken.tolist()


def test_z3_is_imported_when_used() -> None:
    """Runs without it do not import it."""
    code = "import sys; import spillway.schedulers.policies.window; print('z3' in sys.modules)"
    assert run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"
