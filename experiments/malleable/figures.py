"""Figures: a phase shift in time, I/O times of the use cases, the four applications, the whole machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes

from analysis.colours import PALETTE, in_order
from analysis.plots.panels import panels
from analysis.plots.style import INK, legend_above, save, set_title
from experiments.malleable.changes import changes
from experiments.malleable.four import ORDERS, RULES, TABLE_2
from experiments.malleable.measures import Results, case_results, four_table
from experiments.malleable.usecases import SCENARIOS_OF

NAMES = {"baseline": "no control", "blocking": "exclusive", "shifting": "shifting", "coupling": "coupling"}
"""Scenarios in short; shifting and coupling come on top of exclusive I/O."""


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw what the results allow; return the files."""
    paths: list[Path] = []
    shifted = sorted(
        (run for run in case_results(results, "B", "shifting") if run["conflicts"]),
        key=lambda run: (len(run["conflicts"]), run["conflicts"][0]["time_s"]),
    )
    if shifted:
        paths += save(_shift(shifted[0]), folder / "case-b")
    if case_results(results, "D", "coupling"):
        paths += save(_io_times(results), folder / "io-times")
    if four_table(results):
        paths += save(_four(results), folder / "four")
    if changes(results):
        paths += save(_machine(results), folder / "machine")
    return paths


def _shift(run: dict[str, Any]) -> Axes:
    """Processes over time, and below the I/O phases; what was predicted before the shift is hollow."""
    upper, lower = panels(2, 1, width=8.0, height=4.6)
    end_s = max(application["end_s"] for application in run["applications"])
    for place, application in enumerate(run["applications"]):
        colour = PALETTE[place]
        times = [time_s for time_s, _ in application["sizes"]] + [application["end_s"]]
        sizes = [size for _, size in application["sizes"]]
        upper.step(times, [*sizes, sizes[-1]], where="post", color=colour, label=f"application {place + 1}")
        for begin, end in zip(application["asked_s"], application["ended_s"], strict=True):
            lower.barh(place, end - begin, left=begin, height=0.5, color=colour)
    shift = run["conflicts"][0]
    place = int(shift["chosen"]) - 1
    predicted = shift["predicted_s"][shift["applications"].index(shift["chosen"])]
    lower.barh(place, 8.49, left=predicted, height=0.62, facecolor="none", edgecolor=INK, linestyle="--", linewidth=0.9)
    lower.annotate(
        f"predicted {predicted:.1f} s,\nshifted by {shift['shift_s']:.1f} s",
        (predicted, place - 0.33), xytext=(-8, 16), textcoords="offset points", fontsize=8.5, ha="right",
    )  # fmt: skip
    upper.set_ylabel("processes")
    upper.grid(axis="y")
    set_title(upper, "Use case B: a phase shift")
    legend_above(upper)
    lower.set_yticks([0, 1], ["application 1", "application 2"])
    lower.invert_yaxis()
    lower.set_ylim(1.6, -1.0)
    lower.set_xlabel("time (s); bars: I/O phases, dashed: as predicted before the shift")
    for ax in (upper, lower):
        ax.set_xlim(0, end_s)
    return upper


def _io_times(results: Results) -> Axes:
    """I/O time of each application by scenario, transfers and delays."""
    cases = ("C", "C drifting", "D")
    axes = panels(1, len(cases), width=11.0, height=3.8)
    for ax, case in zip(axes, cases, strict=True):
        scenarios = SCENARIOS_OF[case]
        for column, scenario in enumerate(scenarios):
            runs = case_results(results, case, scenario)
            for place in (0, 1):
                transfer = fmean(run["applications"][place]["transfer_s"] for run in runs)
                delay = fmean(run["applications"][place]["delay_s"] for run in runs)
                at = column + (place - 0.5) * 0.38
                ax.bar(at, transfer, 0.34, color=PALETTE[place], label=f"application {place + 1}" if not column else "")
                ax.bar(at, delay, 0.34, bottom=transfer, color=PALETTE[5], label="" if column or place else "delay")
        ax.set_xticks(range(len(scenarios)), [NAMES[scenario] for scenario in scenarios], fontsize=8)
        ax.set_ylim(0, 490)
        ax.grid(axis="y")
        set_title(ax, f"Use case {case}")
    axes[0].set_ylabel("I/O time (s)")
    handles, labels = axes[-1].get_legend_handles_labels()
    order = sorted(range(len(labels)), key=labels.__getitem__)  # the applications, then delays
    axes[-1].legend(
        [handles[place] for place in order], [labels[place] for place in order], loc="upper right", frameon=False,
        fontsize=8,
    )  # fmt: skip
    return axes[0]


def _four(results: Results) -> Axes:
    """Numbers of processes; FLOPS against fair; delays."""
    found = four_table(results)
    totals = sorted({total for total, *_ in found})
    rules = [rule for rule in RULES if (totals[0], rule, ORDERS[0]) in found]
    width = 0.84 / len(rules)
    axes = panels(2, 2, width=11.0, height=6.2)
    palette = in_order([row.name for row in TABLE_2])
    for column, total in enumerate(totals):
        for place, rule in enumerate(rules):
            at, bottom = column + (place - (len(rules) - 1) / 2) * width, 0
            for row, processes in zip(TABLE_2, found[total, rule, ORDERS[0]]["processes"], strict=True):
                label = row.name if column + place == 0 else ""
                axes[0].bar(at, processes, width * 0.9, bottom=bottom, color=palette[row.name], label=label)
                bottom += processes
            axes[0].annotate(_short(rule), (at, bottom), ha="center", va="bottom", fontsize=7)
    set_title(axes[0], "Processes by application")
    axes[0].legend(loc="upper left", frameon=False, fontsize=8)
    _by_rule(axes[1], found, totals, rules, "delay_s", ORDERS[0])
    set_title(axes[1], "Sum of the mean I/O delays (s), first come first served")
    for ax, order in zip(axes[2:], ORDERS, strict=True):
        _by_rule(ax, found, totals, rules, "gain", order)
        ax.axhline(0, color=INK, linewidth=0.8)
        set_title(ax, f"FLOPS against fair (%), next writer: {order}")
    limits = [limit for ax in axes[2:] for limit in ax.get_ylim()]
    for ax in axes[2:]:
        ax.set_ylim(min(limits), max(limits))
    axes[1].legend(loc="upper left", frameon=False, fontsize=8)
    for ax in axes:
        ax.set_xticks(range(len(totals)), [f"{total} processes" for total in totals])
        ax.grid(axis="y")
    return axes[0]


def _by_rule(
    ax: Axes,
    found: Mapping[tuple[int, str, str], dict[str, Any]],
    totals: Sequence[int],
    rules: Sequence[str],
    measure: str,
    order: str,
) -> None:
    width, palette = 0.84 / len(rules), dict(zip(rules, PALETTE[5:], strict=False))
    for place, rule in enumerate(rules):
        if measure == "gain":
            values = [100 * (found[t, rule, order]["flops"] / found[t, "fair", order]["flops"] - 1) for t in totals]
        else:
            values = [found[total, rule, order][measure] for total in totals]
        places = [column + (place - (len(rules) - 1) / 2) * width for column in range(len(totals))]
        ax.bar(places, values, width * 0.9, color=palette[rule], label=rule)


def _short(rule: str) -> str:
    return {"fair": "FR", "speedup": "SP", "io": "IO", "io, weight 1": "IO1"}[rule]


def _machine(results: Results) -> Axes:
    """What malleable jobs change, by their share and by what controls them; bars from the least to the most seed."""
    found = changes(results)
    policy = next(iter(found))[0]
    controls = list(dict.fromkeys(control for name, control, share in found if name == policy and share > 0))
    axes = panels(1, len(_CHANGES), width=11.5, height=3.8)
    palette = in_order(controls)
    for ax, (measure, words) in zip(axes, _CHANGES.items(), strict=True):
        for place, control in enumerate(controls):
            chosen = sorted((share, row[measure]) for (name, other, share), row in found.items()
                            if name == policy and other == control)  # fmt: skip
            shares = [100 * share + 1.6 * (place - (len(controls) - 1) / 2) for share, _ in chosen]
            means = [interval.mean for _, interval in chosen]
            ax.vlines(
                shares, [row.least for _, row in chosen], [row.most for _, row in chosen], color=palette[control],
                linewidth=1.2,
            )  # fmt: skip
            ax.plot(shares, means, marker="o", markersize=5, color=palette[control], label=control)
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.set_xlim(0, 106)
        ax.set_xlabel("malleable jobs (%)")
        ax.grid()
        set_title(ax, words)
    axes[1].legend(loc="upper left", frameon=False, fontsize=9)
    return axes[0]


_CHANGES: Mapping[str, str] = {
    "mean_wait_s": "change of the waiting time (%)",
    "utilisation_percent": "more nodes held (points)",
    "mean_delay_s": "change of the I/O delay (%)",
}
