"""Tables of policies, job models and lives, with their options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spillway.base.options import OptionInfo, show


class Entry(Protocol):
    """Data of a row (:class:`spillway.schedulers.policies.PolicyEntry`)."""

    @property
    def summary(self) -> str:
        """One line of meaning."""
        ...

    @property
    def reference(self) -> str:
        """Paper and section."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of the session that go with the policy."""
        ...

    def options(self) -> list[OptionInfo]:
        """The options, with this entry's defaults."""
        ...


class Registration(Protocol):
    """A name that an installed package registers (:class:`spillway.base.entry_points.Registered`)."""

    @property
    def name(self) -> str:
        """Its spelling on command lines."""
        ...

    @property
    def place(self) -> str:
        """``MODULE:CLASS``."""
        ...

    @property
    def package(self) -> str:
        """Name and version of the package."""
        ...


def print_entries(noun: str, entries: Mapping[str, Entry], console: Console) -> None:
    """Print every entry of a table with its summary and source, then every option with unit, range and defaults.

    Entries of one class (policies) share their options, so an option is described once and its default named per entry
    where they differ.
    """
    policies = Table(noun, "meaning", "source", title_justify="left")
    for name, entry in entries.items():
        brings = "".join(f"; --{key.replace('_', '-')} {show(value)}" for key, value in entry.settings.items())
        policies.add_row(Text(name, style="bold"), Text(entry.summary + brings), Text(entry.reference))
    console.print(policies)
    for names in _families(entries).values():
        console.print(_options_table(names, entries))


def wide_console() -> Console:
    """A console for tables: as wide as the terminal, or 160 characters without one."""
    console = Console()
    return console if console.is_terminal else Console(width=160)


def print_policies(console: Console) -> None:
    """Print the package's policies."""
    from spillway.schedulers.policies import POLICIES

    print_entries("policy", POLICIES, console)


def print_registered(names: Mapping[str, Iterable[Registration]], console: Console) -> None:
    """Print the names that installed packages register, by kind (``policy`` ...), if there are any."""
    table = Table("name", "kind", "package", "class", title="From installed packages", title_justify="left")
    for kind, entries in names.items():
        for entry in entries:
            table.add_row(Text(entry.name, style="bold"), kind, Text(entry.package), Text(entry.place))
    if table.row_count:
        console.print(table)


def _families(entries: Mapping[str, Entry]) -> dict[tuple[tuple[str, str], ...], list[str]]:
    """Policies with the same options, by those options."""
    families: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, entry in entries.items():
        key = tuple((info.name, info.expected) for info in entry.options())
        families.setdefault(key, []).append(name)
    return families


def _options_table(names: list[str], entries: Mapping[str, Entry]) -> Table:
    table = Table("option", "type", "unit", "values", "default", "meaning", title_justify="left")
    table.title = f"Options of {', '.join(names)} (NAME:option=value)"
    by_policy = {name: {info.name: info for info in entries[name].options()} for name in names}
    for info in by_policy[names[0]].values():
        defaults = _defaults((name, show(by_policy[name][info.name].default)) for name in names)
        values = info.expected.removesuffix(f" ({info.unit})")
        table.add_row(
            Text(info.name, style="bold"), info.type_name, info.unit, Text(values), Text(defaults), Text(info.help)
        )
    if not table.row_count:
        table.add_row("none", "", "", "", "", "")
    return table


def _defaults(pairs: Iterable[tuple[str, str]]) -> str:
    by_value: dict[str, list[str]] = {}
    for name, value in pairs:
        by_value.setdefault(value, []).append(name)
    if len(by_value) == 1:
        return next(iter(by_value))
    commonest = max(by_value, key=lambda value: len(by_value[value]))
    others = [f"{value} for {', '.join(names)}" for value, names in by_value.items() if value != commonest]
    return f"{commonest}; {'; '.join(others)}"
