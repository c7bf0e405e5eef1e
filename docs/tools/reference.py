"""Writes the reference pages of the documentation from the code, so that they cannot differ from it.

``python -m docs.tools.reference`` writes them; a test fails where they are not up to date.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from docs.tools import platform_page, verdicts
from spillway.analysis.document.blocks import Block, Code, Heading, Paragraph, Table
from spillway.analysis.document.text import to_markdown
from spillway.analysis.report.columns import FURTHER, SERVICE, explained
from spillway.base import durable
from spillway.base.arguments import PROGRAM, Parser, tell
from spillway.base.limits import LIMITS
from spillway.base.options import OptionInfo, describe, show
from spillway.experiments import cli
from spillway.experiments.campaign import campaign_file
from spillway.experiments.campaign.folder.summary import METRICS, OTHER_CODE, TIMINGS
from spillway.experiments.cli import list_
from spillway.experiments.run.codehash import REPOSITORY
from spillway.experiments.run.sessions import SETTINGS
from spillway.experiments.run.spec import (
    ModelSpec,
    PlatformSpec,
    Playing,
    PolicySpec,
    WorkloadSpec,
)
from spillway.protocol.limits import (
    DEEPEST_PROFILE,
    LATEST_S,
    LONGEST_NAME,
    MAX_MESSAGE_BYTES,
    MOST_IDLE_CALLS,
    MOST_LEVELS,
    MOST_TASKS,
    time_fault,
)
from spillway.schedulers.applications import application
from spillway.schedulers.jobmodels import stream
from spillway.schedulers.model import operations, persistent, staging
from spillway.schedulers.model.dependencies import DEPENDENCY_FIELDS
from spillway.schedulers.model.job import JOB_FIELDS, OWN_FIELDS
from spillway.schedulers.model.site import SITE_FIELDS
from spillway.schedulers.policies import replay
from spillway.schedulers.policykit import estimates
from spillway.schedulers.timesharing import files
from spillway.workloads.conversion.convert import ConvertOptions
from spillway.workloads.logs.reading import Reading

FOLDER = REPOSITORY / "docs" / "reference"
NOTE = "<!-- Written by `python -m docs.tools.reference` from the code. Do not edit. -->\n\n"


def pages() -> dict[str, str]:
    """All reference pages by file name."""
    models = (
        "Behaviour of started jobs: `--model NAME[:key=value,...]`. [Another](../adding-a-job-model.md) is one file."
    )
    lives = (
        "The intervals over which burst buffers are held: `--bb-life NAME[:key=value,...]`; "
        "[details](../models.md#lives-of-burst-buffers)."
    )
    policies = "`--policy NAME[:key=value,...]`. [Another](../adding-a-policy.md) is one file."
    documents = {
        "campaigns.md": campaigns(),
        "policies.md": [Heading("Policies", 1), Paragraph(policies), *list_.policies()],
        "models.md": [Heading("Job models", 1), Paragraph(models), *list_.models()],
        "lives.md": [Heading("Lives of burst buffers", 1), Paragraph(lives), *list_.lives()],
        "job-fields.md": job_fields(),
        "metrics.md": metrics(),
        "limits.md": limits(),
        "platform.md": platform_page.page(),
    }
    documents |= commands()
    documents |= {f"claims/{name}": blocks for name, blocks in verdicts.pages(verdicts.read()).items()}
    return {name: NOTE + to_markdown(blocks) for name, blocks in documents.items()}


def limits() -> list[Block]:
    """The limits of input, the options that change them, and the texts of their errors."""
    rows = [
        ("time or duration in a file or message", f"{LATEST_S:.0f} s", "fixed", f"... {time_fault(1e300)}"),
        ("levels of composed profiles", f"{DEEPEST_PROFILE}", "fixed",
         f"... is nested deeper than {DEEPEST_PROFILE} levels"),
        ("tasks of one composed profile", f"{MOST_TASKS:,}", "fixed", f"... unfolds to more than {MOST_TASKS:,} tasks"),
        ("name of a job, profile, workload or host in a message", f"{LONGEST_NAME} characters", "fixed",
         f"expected the id of a job of 1 to {LONGEST_NAME} characters, got ..."),
        ("calls requested one after another while nothing runs or is to come", f"{MOST_IDLE_CALLS:,}", "fixed",
         f"{MOST_IDLE_CALLS} calls (CALL_ME_LATER) one after another, while no job runs ..."),
        ("bandwidth levels of a host", f"{MOST_LEVELS}", "fixed", f"... more than {MOST_LEVELS}"),
        ("one message between simulator and scheduler", f"{MAX_MESSAGE_BYTES:,} bytes", "`--max-message-bytes`",
         f"expected a message of at most {MAX_MESSAGE_BYTES} bytes (option --max-message-bytes), got N bytes"),
        ("silence of a simulator in a process of its own", f"{Playing.silence_s:.0f} s", "`--silence`",
         "the simulator has been silent for ... s"),
    ]  # fmt: skip
    rows += [
        (one.what, f"{one.most:,} {one.unit}", f"`{one.option}`" if one.option else "fixed", f"... {one.text('N')}")
        for one in LIMITS
    ]
    return [
        Heading("Limits of input", 1),
        Paragraph(
            "Input from outside is bounded, so that a damaged or hostile file ends a command with one line and exit "
            "code 2, without filling the memory. Options in capitals are environment variables: a whole number above 0."
        ),
        Table(("input", "limit", "option", "text of the error"), rows),
        Paragraph(
            "Only regular files are read: a folder, a pipe, a device or a socket is refused with its kind. Compressed "
            "files are unpacked as streams. XML may declare no entities, and only encodings that expat supports; "
            "nothing outside the file is fetched. A name in results is text for tables, charts and file names; "
            "characters that are not safe in a file name are replaced there, and long names end with their checksum."
        ),
    ]


def commands() -> dict[str, list[Block]]:
    """A page for each command of ``spillway``, and one that lists them."""
    made: dict[str, list[Block]] = {}
    index: list[Block] = [Heading("Command lines", 1), Paragraph(f"`{PROGRAM} COMMAND --help` prints the same.")]
    for group, names in cli.GROUPS.items():
        rows = [(f"[`{PROGRAM} {name}`]({name}.md)", cli.module_of(name).HELP) for name in names]
        index += [Heading(f"{group[:1].upper()}{group[1:]}"), Table(("command", "purpose"), rows)]
        for name in names:
            made |= _command(name, cli.parser_of(name))
    return {"commands/index.md": index} | made


def campaigns() -> list[Block]:
    """Every key of a campaign file."""
    tables = (
        ("Campaign", "At the top of the file.", (campaign_file.Axes,)),
        ("`[[workload]]`", "One table for each workload.", (WorkloadSpec,)),
        ("`read`", "Keys of a workload's `read` table: [formats](../own-log.md#formats).", (Reading,)),
        ("`[[platform]]`", "One table for each machine.", (PlatformSpec,)),
        ("`[[policy]]`", "One table for each policy.", (PolicySpec,)),
        ("Job models", "One entry of `models`, where it is a table and not a text `NAME[:key=value,...]`.",
         (ModelSpec,)),
    )  # fmt: skip
    found: list[Block] = [
        Heading("Campaign files", 1),
        Paragraph("An unknown key is an error that lists the known ones."),
    ]
    for title, words, kinds in tables:
        rows = [
            (f"`{info.name}`", info.expected, _default(info), info.help) for kind in kinds for info in describe(kind)
        ]
        found += [Heading(title), Paragraph(words), Table(("key", "value", "default", "meaning"), rows)]
    words = "Keys of a policy's `session` table; on the command line `--name VALUE` for all policies."
    found += [Heading("Session settings"), Paragraph(words), list_.options_table(SETTINGS.values())]
    words = "Keys of a workload's `convert` table: conversion of a log to a workload."
    return [*found, Heading("Conversion of logs"), Paragraph(words), list_.options_table(describe(ConvertOptions))]


def _default(info: OptionInfo) -> str:
    if info.required:
        return "must be given"
    if isinstance(info.default, tuple) and info.default:
        return f"[{', '.join(map(show, info.default))}]"
    return show(info.default) if info.default not in ("", (), {}) else "none"


def job_fields() -> list[Block]:
    """Fields of a job, from the tables of the readers."""
    words = (
        "Fields that are read from a job of a workload, or from its profile, beside the fields that Batsim itself "
        "reads. A job with a field that the chosen job model does not support is rejected: the reason names the field "
        "and the model."
    )
    groups = (
        ("Batsim's own", JOB_FIELDS),
        ("Under every job model", OWN_FIELDS),
        ("With a site's description (`--site FILE`)", SITE_FIELDS),
        ("Jobs that wait for others", DEPENDENCY_FIELDS),
        ("Persistent burst buffers, under every job model", persistent.PERSISTENT_FIELDS),
        ("Staging: `--model io`", staging.STAGING_BYTES),
        ("Staging: `--model io`, and every model where `--bb-life` is not `with-nodes`", staging.STAGING_SECONDS),
        ("For predictions", estimates.FIELDS),
        ("`--policy replay`", replay.FIELDS),
        ("`--model stream`", stream.FIELDS),
        ("`--model operations`", operations.FIELDS),
        ("`--model malleable`", application.FIELDS),
        ("`--model timeshared` (gang policies)", files.FIELDS),
    )
    found: list[Block] = [Heading("Fields of a job", 1), Paragraph(words)]
    for title, fields in groups:
        rows = [(f"`{field.name}`", field.where, field.form, field.meaning) for field in fields]
        found += [Heading(title), Table(("field", "of", "value", "meaning"), rows)]
    return found


def metrics() -> list[Block]:
    """Every column of the summary, in the words of the report."""
    columns = {column.name: column for column in explained((*SERVICE, *FURTHER), Playing.tau_s)}
    rows = [(f"`{name}`", columns[name].words) for name in (*METRICS, *TIMINGS)]
    rows.append((f"`{OTHER_CODE}`", "1 where the run was made by other code than the one that wrote the table."))
    return [Heading("Columns of summary.csv", 1), Table(("column", "meaning"), rows)]


def _command(name: str, parser: argparse.ArgumentParser) -> dict[str, list[Block]]:
    """A command's page, and one for each of its actions."""
    found: list[Block] = [Heading(f"`{parser.prog}`", 1)]
    if isinstance(parser, Parser):
        parser.fill()
    found += [Paragraph(parser.description)] if parser.description else []
    if isinstance(parser, Parser) and parser.examples.strip():
        found.append(Code(parser.examples.strip()))
    children: dict[str, argparse.ArgumentParser] = {}
    for group in parser._action_groups:
        rows = []
        for action in group._group_actions:
            if isinstance(action, argparse._SubParsersAction):
                children = dict(action.choices)
            elif action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):
                rows.append((_names(action), _help(parser, action)))
        if rows:
            title = (group.title or "options").capitalize()
            found += [Paragraph(f"**{title}**"), Table(("argument", "meaning"), rows)]
    found += [Paragraph(parser.epilog)] if parser.epilog else []
    made: dict[str, list[Block]] = {}
    for action_name, child in children.items():
        made |= _command(f"{name}-{action_name}", child)
    if children:
        links = [(f"[`{child.prog}`]({name}-{key}.md)", child.description or "") for key, child in children.items()]
        found.append(Table(("action", "purpose"), links))
    return {f"commands/{name}.md": found} | made


def _names(action: argparse.Action) -> str:
    value = action.metavar or (action.dest.upper() if not action.choices else "")
    if isinstance(value, tuple):
        value = " ".join(value)
    if action.choices:
        value = action.metavar if isinstance(action.metavar, str) else "|".join(map(str, action.choices))
    takes = "" if action.nargs == 0 else f" {value}"
    if not action.option_strings:
        return f"`{value}`"
    return ", ".join(f"`{name}{takes}`" for name in action.option_strings)


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    text = parser._get_formatter()._expand_help(action) if action.help else ""
    if isinstance(action.default, int) and action.dest == "workers":
        text = (action.help or "").replace("%(default)s", "default: all cores")
    return text


def write(folder: Path = FOLDER) -> list[Path]:
    """Write all pages; return their paths."""
    written = []
    for name, text in pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        durable.write_text(path, text)
        written.append(path)
    for stale in {*folder.rglob("*.md")}.difference(written):
        stale.unlink()  # pages of renamed commands
    return written


if __name__ == "__main__":
    for written_path in write():
        tell(written_path)
