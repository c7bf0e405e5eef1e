"""Figure 13 of the paper, drawn from a run of ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spillway.analysis.plots.axes import legend_above, set_title
from spillway.analysis.plots.colours import PALETTE
from spillway.analysis.plots.style import INK, panels, save
from spillway.experiments.studies.malleable import cases
from spillway.experiments.studies.results import Results


@dataclass(frozen=True)
class Shift:
    """Figure 13: processes over time, and below the I/O phases; the phase predicted before the shift is hollow."""

    name: str

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Play the seed with the fewest shifts, among which is the paper's, once more and draw it."""
        wanted = {"case": "B", "control": "shifting"}
        points = [point for point, found in results.values.items() if point.matches(wanted) and found.get("decided")]
        point = min(points, key=lambda point: results.metric("shifts", point), default=None)
        if point is None:
            return []
        played = cases.run(point)
        upper, lower = panels(2, 1, width=8.0, height=4.6)
        records = [played.records[name] for name in ("1", "2")]
        for place, record in enumerate(records):
            colour = PALETTE[place]
            times, sizes = [time_s for time_s, _ in record.sizes], [size for _, size in record.sizes]
            upper.step([*times, record.end_s], [*sizes, sizes[-1]], where="post", color=colour,
                       label=f"application {place + 1}")  # fmt: skip
            for phase in record.phases:
                lower.barh(place, phase.end_s - phase.asked_s, left=phase.asked_s, height=0.5, color=colour)
        place = int(results.metric("chosen", point)) - 1
        expected_s, advanced_s = results.metric("expected", point), results.metric("advanced", point)
        long_s = records[place].phases[0].end_s - records[place].phases[0].begin_s
        lower.barh(place, long_s, left=expected_s, height=0.62, facecolor="none", edgecolor=INK, linestyle="--",
                   linewidth=0.9)  # fmt: skip
        lower.annotate(
            f"predicted {expected_s:.1f} s,\nbegins {advanced_s:.1f} s earlier", (expected_s, place - 0.33),
            xytext=(-8, 16), textcoords="offset points", fontsize="small", ha="right",
        )  # fmt: skip
        upper.set_ylabel("processes")
        upper.grid(axis="y")
        set_title(upper, "Use case B: a phase shift")
        legend_above(upper)
        lower.set_yticks([0, 1], ["application 1", "application 2"])
        lower.set_ylim(1.6, -1.0)
        lower.set_xlabel("time (s); bars: I/O phases, dashed: as predicted before the shift")
        for ax in (upper, lower):
            ax.set_xlim(0, max(record.end_s for record in records))
        return save(upper, folder / self.name)
