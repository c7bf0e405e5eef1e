"""The part of YAML in ``resources.yaml``: lists, mappings, plain and quoted scalars, comments.

No anchors, tags, documents after the first, or texts of several lines: each is an error that names its line.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from spillway.base.errors import InputError, shown

_KEY = re.compile(r"([A-Za-z_][\w.-]*)\s*:(?:\s+(.*))?")
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_COMMENT = re.compile(r"(?:^|\s)#.*")
_QUOTED = re.compile(r"\"([^\"\\]*)\"|'([^']*)'")
_DEEPEST = 20
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}


class _Line(NamedTuple):
    indent: int
    text: str
    number: int


def parse(text: str, name: str) -> Any:
    """The value of a text.

    Raises
    ------
    InputError
        The text is malformed; names the file and the line.
    """
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        plain = _uncommented(line).rstrip()
        if "\t" in plain[: len(plain) - len(plain.lstrip())]:
            raise InputError(f"{name}, line {number}: expected blanks before {shown(plain.strip())}, got a tabulator")
        if plain.strip() and plain.strip() != "---":
            lines.append(_Line(len(plain) - len(plain.lstrip()), plain.strip(), number))
    reader = _Reader(lines, name)
    found = reader.block(lines[0].indent, 0) if lines else None
    if reader.at < len(lines):
        reader.refuse(lines[reader.at], "less indentation")
    return found


def _uncommented(line: str) -> str:
    """A line without its comment; ``#`` within quotes begins no comment."""
    masked = _QUOTED.sub(lambda found: "x" * len(found[0]), line)
    found = _COMMENT.search(masked)
    return line[: found.start()] if found else line


class _Reader:
    """Reads blocks by their indentation."""

    def __init__(self, lines: list[_Line], name: str) -> None:
        self._lines = lines
        self._name = name
        self.at = 0

    def refuse(self, line: _Line, expected: str) -> None:
        """Raise the error about a line."""
        raise InputError(f"{self._name}, line {line.number}: expected {expected}, got {shown(line.text)}")

    def block(self, indent: int, depth: int) -> Any:
        """The list or mapping that begins here."""
        line = self._lines[self.at]
        if depth > _DEEPEST:
            self.refuse(line, f"at most {_DEEPEST} levels")
        if line.text == "-" or line.text.startswith("- "):
            return self._list(indent, depth)
        return self._mapping(indent, depth)

    def _list(self, indent: int, depth: int) -> list[Any]:
        found = []
        while (line := self._next(indent)) and (line.text == "-" or line.text.startswith("- ")):
            rest = line.text[1:].lstrip()
            if not rest:
                self.at += 1
                found.append(self._below(indent, depth))
            elif _KEY.fullmatch(rest) or rest == "-" or rest.startswith("- "):  # it begins behind the dash
                inner = line.indent + len(line.text) - len(rest)
                self._lines[self.at] = _Line(inner, rest, line.number)
                found.append(self.block(inner, depth + 1))
            else:
                self.at += 1
                found.append(self._scalar(rest, line))
        return found

    def _mapping(self, indent: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while line := self._next(indent):
            key = _KEY.fullmatch(line.text)
            if key is None:
                self.refuse(line, "a key and a colon")
                break
            if key[1] in found:
                self.refuse(line, f"the key {key[1]!r} once")
            self.at += 1
            found[key[1]] = self._scalar(key[2], line) if key[2] else self._below(indent, depth, lists=True)
        return found

    def _next(self, indent: int) -> _Line | None:
        """The next line if it belongs to this block; deeper indentation is an error."""
        if self.at == len(self._lines) or self._lines[self.at].indent < indent:
            return None
        line = self._lines[self.at]
        if line.indent > indent:
            self.refuse(line, f"{indent} blanks before it")
        return line

    def _below(self, indent: int, depth: int, *, lists: bool = False) -> Any:
        """The value below a key or a dash; a list may have the indentation of its key."""
        if self.at == len(self._lines):
            return None
        line = self._lines[self.at]
        beside = lists and line.indent == indent and line.text.startswith("-")
        return self.block(line.indent, depth + 1) if line.indent > indent or beside else None

    def _scalar(self, text: str, line: _Line) -> Any:
        if text.startswith("[") and text.endswith("]"):
            inner = text[1:-1].strip()
            masked = _QUOTED.sub(lambda found: "x" * len(found[0]), inner)
            ends = [place for place, char in enumerate(masked) if char == ","]
            cuts = zip([0, *(end + 1 for end in ends)], [*ends, len(inner)], strict=True)
            return [self._scalar(inner[first:last].strip(), line) for first, last in cuts] if inner else []
        if quoted := _QUOTED.fullmatch(text):
            return quoted[1] if quoted[1] is not None else quoted[2]
        if _WHOLE.fullmatch(text):
            return int(text)
        if text[:1] in "\"'[{&*!|>%@`":
            self.refuse(line, "a plain or quoted value, or a list in brackets")
        return _WORDS.get(text.lower(), text)
