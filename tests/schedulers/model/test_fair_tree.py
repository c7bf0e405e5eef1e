"""Fair Tree: cases worked out by hand, and any tree against a plain reference."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.schedulers.model.fair_tree import FairTree
from spillway.schedulers.model.site import Association
from tests.reference import fair_tree as reference


def factors(tree: FairTree, **used: float) -> dict[str, float]:
    """Factors by user, from usage by user."""
    usage = np.array([used.get(user, 0.0) for _, user in tree.users])
    return dict(zip((user for _, user in tree.users), tree.factors(usage).tolist(), strict=True))


def accounts(*shares: int, parent: str = "") -> list[Association]:
    """Accounts a, b, c ... with these shares."""
    return [Association(name, parent=parent, shares=one) for name, one in zip("abcdef", shares, strict=False)]


def user(account: str, name: str, shares: int = 1) -> Association:
    """A user in an account."""
    return Association(account, name, shares=shares)


def test_the_tree_of_the_module() -> None:
    """As worked out there: tied accounts are descended as one; one unit more for a, and b1 is the first of all."""
    tree = FairTree([*accounts(2, 1), user("a", "a1"), user("a", "a2"), user("b", "b1")])
    assert factors(tree, a1=30, a2=10, b1=20) == {"a2": 1.0, "b1": 2 / 3, "a1": 1 / 3}
    assert factors(tree, a1=31, a2=10, b1=20) == {"b1": 1.0, "a2": 2 / 3, "a1": 1 / 3}


def test_all_users_of_an_account_come_before_those_of_a_worse_one() -> None:
    """a has had 60 of 100 with half of the shares, LF 5/6; b 40, LF 5/4. b2 has the whole usage of b, and comes before
    a1 without usage: the account decides first.
    """
    tree = FairTree([*accounts(1, 1), user("a", "a1"), user("a", "a2"), user("b", "b1"), user("b", "b2")])
    assert factors(tree, a2=60, b2=40) == {"b1": 1.0, "b2": 0.75, "a1": 0.5, "a2": 0.25}


def test_sibling_users_with_equal_level_shares_share_a_rank() -> None:
    """u and v have had 10 with a share each, w 20 with two: LF is 0.8 for each, so all have rank 4 of 4. x has had
    nothing: LF is infinite, it is the first, and they have rank 3; no user has rank 2 or 1.
    """
    users = [user("a", "u"), user("a", "v"), user("a", "w", 2), user("a", "x")]
    tree = FairTree([*accounts(1), *users])
    assert factors(tree, u=10, v=10, w=20) == {"x": 1.0, "u": 0.75, "v": 0.75, "w": 0.75}
    assert factors(tree) == dict.fromkeys("uvwx", 1.0)


def test_whoever_has_no_shares_comes_last() -> None:
    """x has no shares, and y, which has had something: LF is 0 for both, also without usage, as Slurm has it."""
    tree = FairTree([*accounts(1), user("a", "u"), user("a", "x", 0), user("a", "y", 0)])
    assert factors(tree, u=10, y=5) == {"u": 1.0, "x": 2 / 3, "y": 2 / 3}
    assert factors(tree) == {"u": 1.0, "x": 2 / 3, "y": 2 / 3}


def test_a_user_with_the_level_share_of_an_account_has_the_rank_of_its_best_user() -> None:
    """Below the root: user u with a share, account a with one; both have had 10, LF is 1 for each. Of a's users a1 has
    had 4 (LF 5/4), a2 6. u and a1 share rank 3 of 3, a2 follows with rank 1: two came before.
    """
    tree = FairTree([*accounts(1), user("", "u"), user("a", "a1"), user("a", "a2")])
    assert factors(tree, u=10, a1=4, a2=6) == {"u": 1.0, "a1": 1.0, "a2": 1 / 3}


def test_the_best_user_of_a_tied_account_may_be_deeper() -> None:
    """The same with account b between a and its users; account c, without users, has shares and is not descended."""
    tree = FairTree(
        [
            Association("a"),
            Association("b", parent="a"),
            Association("c", parent="a", shares=5),
            *(user("", "u"), user("b", "b1"), user("b", "b2")),
        ]
    )
    assert factors(tree, u=10, b1=4, b2=6) == {"u": 1.0, "b1": 1.0, "b2": 1 / 3}


def test_users_of_tied_accounts_may_tie() -> None:
    """a and b tie (nothing used), and so do all of their users; c has had all there is, and its users differ."""
    users = [user("a", "a1"), user("b", "b1"), user("c", "c1", 3), user("c", "c2")]
    tree = FairTree([*accounts(1, 7, 9), *users])
    assert factors(tree, c1=10, c2=10) == {"a1": 1.0, "b1": 1.0, "c1": 0.5, "c2": 0.25}


def test_a_user_may_be_in_two_accounts() -> None:
    """Each of its associations has its rank."""
    tree = FairTree([*accounts(1, 1), user("a", "u"), user("b", "u")])
    assert tree.factors(np.array([5.0, 0.0])).tolist() == [0.5, 1.0]


def test_no_associations() -> None:
    """No user is ranked."""
    assert FairTree([]).factors(np.zeros(0)).tolist() == []


@st.composite
def trees(draw: st.DrawFn) -> list[Association]:
    """Accounts, each below an earlier one or the root, and users in them, with few different shares."""
    names = [f"a{number}" for number in range(draw(st.integers(0, 6)))]
    shares = st.sampled_from([0, 1, 1, 1, 2, 4])
    found = [
        Association(name, parent=draw(st.sampled_from(["", *names[:number]])), shares=draw(shares))
        for number, name in enumerate(names)
    ]
    users = [
        Association(draw(st.sampled_from(["", *names])), f"u{number}", shares=draw(shares))
        for number in range(draw(st.integers(0, 9)))
    ]
    return draw(st.permutations([*found, *users]))


@settings(max_examples=500)
@given(associations=trees(), data=st.data())
def test_any_tree_is_ranked_as_by_the_reference(associations: list[Association], data: st.DataObject) -> None:
    """With usage from few values, so that there are ties of every kind."""
    tree = FairTree(associations)
    usage = {name: data.draw(st.sampled_from([0, 0, 1, 1, 2, 4])) for name in tree.users}
    found = tree.factors(np.array(list(usage.values()), np.float64))
    expected = reference.factors(associations, usage)
    assert {name: found[place] for name, place in tree.users.items()} == {
        name: float(factor) for name, factor in expected.items()
    }
