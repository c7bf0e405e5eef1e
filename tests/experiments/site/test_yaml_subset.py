"""The part of YAML that resources.yaml is written in, against hand-made values and a library if one is installed."""

from __future__ import annotations

import importlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.base.errors import InputError
from spillway.experiments.site.yaml_subset import parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("---\n- 1\n- -2\n", [1, -2]),
        ("a: 1\nb: x y # said\nc: '# no comment'\n", {"a": 1, "b": "x y", "c": "# no comment"}),
        ("- a: 1\n  b:\n    - c\n- a: 2\n", [{"a": 1, "b": ["c"]}, {"a": 2}]),
        ("a:\n- x\n- y: 1\n  z: 2\nb: true\n", {"a": ["x", {"y": 1, "z": 2}], "b": True}),
        ("a: [n1, 'n[2-3,5]', 7]\nb: []\n", {"a": ["n1", "n[2-3,5]", 7], "b": []}),
        ("-\n  a: 1\n", [{"a": 1}]),
        ("a:\nb: ~\n", {"a": None, "b": None}),
    ],
)
def test_values(text: str, value: object):
    """Worked out by hand."""
    assert parse(text, "x") == value


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a: 1\na: 2\n", "x, line 2: expected the key 'a' once"),
        ("a: 1\n   b: 2\n", "x, line 2: expected 0 blanks before it"),
        ("a:\n\tb: 1\n", "x, line 2: expected blanks before 'b: 1', got a tabulator"),
        ("a: *anchor\n", "x, line 1: expected a plain or quoted value"),
        ("just words\n", "x, line 1: expected a key and a colon"),
        ("  a: 1\nb: 2\n", "x, line 2: expected less indentation"),
        ("".join(f"{' ' * depth}a:\n" for depth in range(30)), "expected at most 20 levels"),
    ],
)
def test_what_is_not_understood(text: str, error: str):
    """Refused with its line."""
    with pytest.raises(InputError, match=error):
        parse(text, "x")


SCALARS = st.integers(-99, 99) | st.booleans() | st.text("abcxyz", min_size=1, max_size=4).map(lambda word: f"w{word}")
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(
            st.text("abc", min_size=1, max_size=2).map(lambda key: f"k{key}"), inner, min_size=1, max_size=3
        )
    ),
    max_leaves=8,
).filter(lambda tree: isinstance(tree, list | dict))


@given(TREES)
@settings(max_examples=80, deadline=None)
def test_what_a_library_writes(tree: object):
    """Lists, mappings and scalars that PyYAML writes are read as it reads them."""
    try:
        yaml = importlib.import_module("yaml")
    except ImportError:
        pytest.skip("PyYAML is not installed")
    text = yaml.safe_dump(tree, default_flow_style=False)
    assert parse(text, "x") == tree


@given(st.text("ab:- \n#'\"[],", max_size=40))
@settings(max_examples=200, deadline=None)
def test_garbage_is_an_error_and_nothing_else(text: str):
    """A value or an error with the file's name."""
    try:
        parse(text, "x")
    except InputError as error:
        assert str(error).startswith("x, line ")  # noqa: PT017
