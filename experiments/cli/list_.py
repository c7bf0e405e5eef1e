"""``spillway list NOUN``: everything that can be chosen, as documents (:mod:`spillway.analysis.document`)."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from spillway.analysis.document.blocks import Block, Heading, Paragraph, Table
from spillway.base.arguments import Parser
from spillway.base.options import OptionInfo, describe, first_paragraph, show

HELP = "all choices: policies, models, lives, engines, studies, platforms, workloads"
EXAMPLES = """
spillway list policies
spillway list platforms
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("noun", choices=tuple(NOUNS), metavar="NOUN", help=f"one of {', '.join(NOUNS)}")


def command(options: argparse.Namespace) -> int:
    """Print the document."""
    from spillway.analysis.document.terminal import terminal, write

    write(terminal(), NOUNS[options.noun]())
    return 0


def policies() -> Iterator[Block]:
    """Every policy; then the options of each class of policies, with the defaults of its names."""
    from spillway.schedulers.policies import POLICIES

    rows = [
        (f"`{name}`", entry.summary + "".join(f"; --{key.replace('_', '-')} {show(value)}"
         for key, value in entry.settings.items()), entry.reference)
        for name, entry in POLICIES.items()
    ]  # fmt: skip
    yield Table(("policy", "rule", "source"), rows)
    yield from _registered("policy")
    families: dict[type, list[str]] = {}
    for name, entry in POLICIES.items():
        families.setdefault(entry.cls, []).append(name)
    for cls, names in families.items():
        yield from _options({name: POLICIES[name].options() for name in names}, _code(cls))


def models() -> Iterator[Block]:
    """Every job model: its options, needs, and further columns of results."""
    from spillway.schedulers.jobmodels import MODELS, record
    from spillway.schedulers.jobmodels.base import FileSystem

    rows = []
    for name, cls in MODELS.items():
        words = {"dynamic jobs": cls.needs.dynamic_jobs, "profile reuse": cls.needs.profile_reuse}
        needs = [word for word, needed in words.items() if needed]
        needs += [f"file system: {cls.needs.file_system.value}"] * (cls.needs.file_system is not FileSystem.NO)
        rows.append((f"`{name}`", _code(cls), str(cls.source), ", ".join(needs)))
    yield Table(("model", "behaviour of jobs", "source", "needs"), rows)
    yield from _registered("job model")
    for name, cls in MODELS.items():
        yield from _options({name: describe(cls)})
        columns = (*record.columns(cls.stages, cls.moved, cls.needs.gate), *cls.columns)
        if columns:
            yield Paragraph(f"Further columns of `jobs.csv`: {', '.join(f'`{column}`' for column in columns)}.")


def lives() -> Iterator[Block]:
    """Every life of burst buffers and its options."""
    from spillway.schedulers.lives import LIVES

    rows = [(f"`{name}`", _code(cls), str(cls.source)) for name, cls in LIVES.items()]
    yield Table(("life", "rule", "source"), rows)
    for name, cls in LIVES.items():
        yield from _options({name: describe(cls)})


def _options(by_name: Mapping[str, Sequence[OptionInfo]], about: str = "") -> Iterator[Block]:
    """The names of a class as a heading, its meaning, and its options."""
    yield Heading(", ".join(by_name))
    if about:
        yield Paragraph(about)
    first = next(iter(by_name.values()))
    yield options_table(first, by_name) if first else Paragraph("No options.")


def options_table(options: Iterable[OptionInfo], by_name: Mapping[str, Sequence[OptionInfo]] | None = None) -> Table:
    """A row for each option; ``by_name``: the same options under several names, whose defaults may differ."""
    rows = []
    for place, info in enumerate(options):
        defaults: dict[str, list[str]] = {}
        for name, infos in (by_name or {"": [*options]}).items():
            defaults.setdefault(f"`{show(infos[place].default)}`", []).append(name)
        usual = max(defaults, key=lambda value: len(defaults[value]))
        others = [f"{value} for {', '.join(names)}" for value, names in defaults.items() if value != usual]
        rows.append((f"`{info.name}`", info.expected, "; ".join([usual, *others]), info.help))
    return Table(("option", "value", "default", "meaning"), rows)


def _code(thing: object) -> str:
    return first_paragraph(thing).replace("``", "`")


def _registered(kind: str) -> Iterator[Block]:
    from spillway.base.entry_points import registered

    rows = [(f"`{registration.name}`", registration.package, registration.place) for registration in registered(kind)]
    if rows:
        yield Table(("from installed packages", "package", "class"), rows)


def _engines() -> Iterator[Block]:
    from spillway.experiments.run.spec import ENGINE_WORDS

    yield Table(("engine", "meaning"), [(f"`{engine.value}`", words) for engine, words in ENGINE_WORDS.items()])


def _studies() -> Iterator[Block]:
    from spillway.experiments.studies.catalogue import STUDIES

    yield Table(("study", "subject"), [(f"`{name}`", words) for name, words in STUDIES.items()])


def _platforms() -> Iterator[Block]:
    from spillway.platforms.catalogue import builtin_files, describe

    yield Table(("platform", "machine"), [(f"`{name}`", describe(name).summary) for name in builtin_files()])


def _workloads() -> Iterator[Block]:
    from spillway.workloads.cli import main

    main(["list"])
    yield from ()


NOUNS: Mapping[str, Callable[[], Iterator[Block]]] = {
    "policies": policies,
    "models": models,
    "lives": lives,
    "engines": _engines,
    "studies": _studies,
    "platforms": _platforms,
    "workloads": _workloads,
}
"""Documents by noun."""
