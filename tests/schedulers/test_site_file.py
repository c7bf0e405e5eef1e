"""A site from its file: values, places of nodes, located errors; and its compact text, there and back."""

from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.base.errors import InputError, OptionError
from spillway.base.files import parse_toml
from spillway.schedulers.assembly import spec_from
from spillway.schedulers.model.site import Association, License, Partition, Qos, Site, Weights, parse_site, site_text
from spillway.schedulers.model.site_parts import Layer, Limits, Resource
from spillway.schedulers.site_file import read_site, site_of, site_setting
from tests.kit.cases import cases
from tests.kit.specs import session_spec

SMALL = Path(__file__).parents[1] / "data" / "site" / "small.toml"


def test_values_of_the_small_site():
    """Names of nodes become places, counted from 0 in the order of the file's top; dates become seconds since 1970."""
    site = read_site(SMALL)
    assert (site.name, site.nodes) == ("small", 16)
    assert [(partition.name, partition.nodes, partition.tier) for partition in site.partitions] == [
        ("standard", "0-11", 1),
        ("long", "8-11", 2),
        ("gpu", "12-15", 1),
    ]
    assert site.associations[3] == Association("biology", "bob", limits=Limits(user_jobs=4, group_tres={"node": 8}))
    assert site.licenses == (License("matlab", 30),)
    assert site.resources[0].layers[1] == Layer("low", "0-7", 12)
    assert site.reservations[0].start_s == 20_788 * 86_400 + 8 * 3600  # 2026-12-01 is 20,788 days after 1970-01-01
    assert (site.weights.fairshare, site.scheduler.bf_licenses, site.buffers.kind) == (10_000, True, "lua")


def test_file_to_text_to_site():
    """The compact text holds all of it, and is the same for the same site."""
    site = read_site(SMALL)
    assert parse_site(site_text(site)) == site
    assert site_setting(str(SMALL)) == site_text(site) == site_setting(site_text(site))


def test_places_without_names():
    """With a number of nodes at the top of the file partitions have ranges of places."""
    site = site_of({"nodes": 8, "partition": [{"name": "p", "nodes": "0-3 6"}]}, "x")
    assert site.partitions[0].nodes == "0-3 6"


@pytest.mark.parametrize(
    ("text", "error"),
    cases("site-file"),
)
def test_wrong_sites_are_refused_with_their_place(tmp_path: Path, text: str, error: str):
    """Each error names the file, and the key or the contradictory entry."""
    path = tmp_path / "site.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=error) as caught:
        read_site(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("text", ['{"nodes": -1}', "{", '{"partitions":[{"name":"p","nodes":"9"}],"nodes":4}'])
def test_wrong_texts_are_refused(text: str):
    """The setting's own text is checked as a file is."""
    with pytest.raises(OptionError, match="setting site"):
        parse_site(text)


def test_every_door_of_the_scheduler_takes_the_file():
    """Every interface that selects a session accepts the file; the settings hold its text."""
    text = site_text(read_site(SMALL))
    assert session_spec("easy", settings={"site": str(SMALL)}).make_settings().site == text
    assert spec_from({"policy": "easy", "site": str(SMALL)}).make_settings().site == text
    with pytest.raises(InputError, match=r"nosuch\.toml: cannot be read"):
        session_spec("easy", settings={"site": "nosuch.toml"}).check()


NAMES = st.text("abcxyz019_-", min_size=1, max_size=5)
COUNTS = st.dictionaries(NAMES, st.integers(0, 2**62), max_size=2)
TIMES = st.none() | st.floats(0.001, 1e12)


@st.composite
def sites(draw: st.DrawFn) -> Site:
    """Any site that does not contradict itself."""
    nodes = draw(st.integers(1, 20))
    places = st.integers(0, nodes - 1)

    def unique(make: st.SearchStrategy) -> tuple:
        return tuple(draw(st.lists(make, max_size=3, unique_by=lambda one: one.name)))

    accounts = draw(st.lists(NAMES, max_size=3, unique=True))
    limits = st.builds(Limits, group_jobs=st.none() | st.integers(0, 9), group_tres=COUNTS, job_longest_s=TIMES)
    of_users = [Association(account, draw(NAMES), shares=draw(st.integers(0, 9))) for account in accounts]
    return Site(
        name=draw(NAMES),
        nodes=nodes,
        partitions=unique(
            st.builds(
                Partition,
                name=NAMES,
                nodes=places.map(lambda last: f"0-{last}" if last else "0"),
                tier=st.integers(0, 9),
                longest_s=TIMES,
                accepting=st.booleans(),
            )
        ),
        associations=(*(Association(account, limits=draw(limits)) for account in accounts), *of_users),
        qos=unique(st.builds(Qos, name=NAMES, limits=limits, usage_factor=st.floats(0, 10))),
        licenses=unique(st.builds(License, name=NAMES, count=st.integers(0, 99))),
        weights=draw(
            st.builds(Weights, age=st.integers(0, 2**32 - 1), tres=st.dictionaries(NAMES, st.integers(0, 99)))
        ),
    )


@given(sites())
@settings(max_examples=60, deadline=None)
def test_any_site_there_and_back(site: Site):
    """Its text reads as the site; and its tables, as the file has them, too."""
    assert parse_site(site_text(site)) == site
    table = msgspec.json.decode(site_text(site))
    names = {"partitions": "partition", "associations": "association", "licenses": "license", "weights": "priority"}
    assert site_of({names.get(key, key): value for key, value in table.items()}, "x") == site


@given(
    st.dictionaries(
        st.sampled_from(["name", "nodes", "partition", "qos", "priority", "resource"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | NAMES,
            lambda inner: (
                st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "mode", "layers"]), inner)
            ),
            max_leaves=6,
        ),
    )
)
@settings(max_examples=150, deadline=None)
def test_garbage_is_an_error_and_nothing_else(table: dict):
    """For any tables the reader gives a site or reports the fault."""
    with suppress(InputError):
        assert parse_site(site_text(site_of(table, "x"))) is not None


def test_a_mode_3_tree():
    """Leaves of one depth below one root, as the manual's example of power has them."""
    layers = [
        {"name": "hall", "count": 130, "base": 18},
        {"name": "row", "parent": "hall", "count": 60},
        {"name": "rack", "parent": "row", "nodes": "0-7", "count": 40, "base": 5},
    ]
    site = site_of(parse_toml("nodes = 8") | {"resource": [{"name": "power", "mode": 3, "layers": layers}]}, "x")
    assert site.resources == (
        Resource(
            "power",
            3,
            (
                Layer("hall", count=130, base=18),
                Layer("row", count=60, parent="hall"),
                Layer("rack", "0-7", 40, "row", 5),
            ),
        ),
    )
