"""What-if questions: one knob at a time against the machine, the jobs and the policy as they are.

A site's own schedule is recorded: a larger buffer does not change it. So a knob of the machine or of the jobs is
compared with the same policy without it, and both are shown beside the site's schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spillway.analysis.measures.shakes import fewest
from spillway.analysis.measures.units import FEWEST_RUNS
from spillway.experiments.campaign.comparison import as_logged
from spillway.experiments.campaign.inputs.sources import the_source
from spillway.experiments.campaign.whatif.answer import Answer
from spillway.experiments.campaign.whatif.knobs import (
    all_of,
    chooses_buffers,
    each_of,
    parse_knob,
    site_of,
    varied,
    with_curve,
)
from spillway.experiments.campaign.whatif.rows import RowRequest
from spillway.experiments.run import sessions
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import Campaign, Engine


@dataclass(frozen=True)
class Question:
    """A what-if question: the grids to play, and the answer that is read from their runs."""

    grids: Sequence[Campaign]
    answer: Answer


SEEDS = FEWEST_RUNS
"""Seeds of a generated workload: this many runs give an interval."""

SHAKES = 10
"""Shakes of each run where there are fewer seeds."""


def question_of(
    base: Campaign,
    changes: Sequence[str],
    *,
    seeds: int | None = None,
    shakes: int | None = None,
    together: bool = False,
    force: bool = False,
) -> Question:
    """Put a question together.

    The first grid is the campaign as it is, with the log's own schedule first if that is known; each change has one.

    Parameters
    ----------
    base
        The campaign as it is: one workload, one platform, one policy and one model, from its first seed.
    changes
        One text per knob.
    seeds
        Number of seeds; default: five for generators, else one.
    shakes
        Repetitions of each run with shaken input; default: ten with fewer than five seeds, else 0. More than 25
        comparisons need more.
    together
        Whether all changes are tried at once, too.
    force
        Whether the log is also compared with its site's schedule where jobs shared nodes.

    Raises
    ------
    SpecError, WorkloadError, OptionError
        A named input, change, policy or model does not exist.
    """
    (workload,), (platform,), (chosen,), seed = base.workloads, base.platforms, base.policies, base.seeds[0]
    site = site_of(chosen)
    knobs = [knob for text in changes for knob in each_of(parse_knob(text, site))]
    source = the_source(workload)
    is_curve = not source.is_generated and not source.is_json and chooses_buffers(platform)
    if is_curve:
        knobs = with_curve(knobs)
    if together and len(knobs) > 1:
        knobs.append(all_of(knobs))
    count = seeds or (SEEDS if source.is_generated else 1)
    labelled = replace(chosen, label=sessions.label(replace(chosen, label="")))
    base = replace(base, policies=(labelled,), seeds=tuple(range(seed, seed + count)))
    is_docker = base.engine is Engine.DOCKER
    replay = chosen.policy != sessions.REPLAY and not is_docker and source.states_starts(seed, force=force)
    asked = [RowRequest(knob.text, tuple(knob.values)) for knob in knobs]
    bands = len(asked) * (1 + replay) + replay
    least = fewest(bands)
    if shakes is not None and 0 < shakes < least:
        raise SpecError(f"shakes: expected 0, or at least {least} for {bands} comparisons, got {shakes}: no band")
    more = shakes if shakes is not None else max(SHAKES, least) if count < SEEDS else 0
    answer = Answer(asked, base, of_log=not source.is_generated, shakes=more, bands=bands, is_curve=is_curve)
    first = replace(base, policies=(as_logged(base), *base.policies)) if replay else base
    return Question([first, *(varied(base, knob) for knob in knobs)], answer)
