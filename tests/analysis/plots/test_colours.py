"""A policy has one colour, and the policies most often compared can be told apart by every reader."""

import itertools

import numpy as np
import pytest

from spillway.analysis.plots.colours import NOTHING, OF_POLICIES, RAMP, colour_of
from spillway.analysis.tables.jobs import Floats
from spillway.schedulers.policies import POLICIES

OFTEN_COMPARED = ("replay", "fcfs", "filler", "easy-no-bb", "easy", "sjf-easy", "conservative", "plan")

BLINDNESS: dict[str, Floats] = {
    "none": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
     [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
     [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
     [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
"""Linear RGB as seen by eyes that lack a kind of cone (Machado, Oliveira, Fernandes 2009, table 1, severity 1)."""


def _lab(colour: str, blindness: Floats) -> Floats:
    """CIELAB (D65) of a colour as such an eye sees it."""
    part = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.clip(blindness @ np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4), 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ linear / np.array([0.9505, 1.0, 1.089]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_every_built_in_policy_has_a_colour_of_its_own() -> None:
    """A new policy needs a line in the table; no two have the same colour."""
    assert {*POLICIES} <= {*OF_POLICIES}
    assert len(set(OF_POLICIES.values())) == len(OF_POLICIES)


@pytest.mark.parametrize("kind", BLINDNESS)
def test_policies_that_are_often_compared_can_be_told_apart(kind: str) -> None:
    """Also without a kind of cone they are at least twelve just noticeable differences apart."""
    seen = {name: _lab(OF_POLICIES[name], BLINDNESS[kind]) for name in OFTEN_COMPARED}
    pairs = {(a, b): float(np.linalg.norm(seen[a] - seen[b])) for a, b in itertools.combinations(seen, 2)}
    least = min(pairs, key=lambda pair: pairs[pair])
    assert pairs[least] > 12, (least, pairs[least])


@pytest.mark.parametrize("kind", BLINDNESS)
def test_steps_of_a_quantity_can_be_told_apart(kind: str) -> None:
    """All of them, and the grey for zero, also without a kind of cone; no step fades into a white page."""
    steps = [_lab(colour, BLINDNESS[kind]) for colour in RAMP]
    grey, page = _lab(NOTHING, BLINDNESS[kind]), _lab("#FFFFFF", BLINDNESS[kind])
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(steps, 2)) > 30
    assert min(float(np.linalg.norm(step - grey)) for step in steps) > 20
    assert min(float(np.linalg.norm(step - page)) for step in steps) > 25


def test_the_colour_follows_from_the_name_alone() -> None:
    """Whether it is built in or not."""
    assert colour_of("easy") == "#CC79A7"
    assert colour_of("easy depth=2") == "#36499F"
    assert len({colour_of(f"policy {number}") for number in range(400)}) == 28
