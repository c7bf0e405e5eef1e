"""Reservation promises against actual starts."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from spillway.analysis.plots.colours import PALETTE
from spillway.analysis.plots.style import INK, new_axes, set_title, time_unit
from spillway.analysis.tables.jobs import Floats


def promises(
    promised_s: Floats, actual_s: Floats, ax: Axes | None = None, *, title: str = "Promised and actual starts"
) -> Axes:
    """Draw each job's actual waiting time over the one that its first reservation promised.

    Points on the line kept their promise; below it they started earlier, above it later.

    Parameters
    ----------
    promised_s, actual_s
        Waiting times in seconds (:func:`spillway.analysis.answers.story.first_promises`).
    ax
        Axes to draw into; a new figure by default.
    title
        Title above the chart.
    """
    ax = new_axes(ax, 5.6, 5.2)
    top = float(max(promised_s.max(initial=1.0), actual_s.max(initial=1.0)))
    scale, unit = time_unit(top)
    late = actual_s > promised_s + 1
    early = actual_s < promised_s - 1
    groups = ((early, "earlier", PALETTE[2]), (~early & ~late, "as promised", PALETTE[7]), (late, "later", PALETTE[5]))
    for mask, name, colour in groups:
        share = 100 * float(np.mean(mask)) if mask.size else 0.0
        label = f"{name} ({share:.0f} %)"
        ax.scatter(promised_s[mask] / scale, actual_s[mask] / scale, s=12, color=colour, alpha=0.7, label=label)
    ax.plot([0, top / scale], [0, top / scale], color=INK, linewidth=0.8)
    ax.set_xlim(0, 1.03 * top / scale)
    ax.set_ylim(0, 1.03 * top / scale)
    ax.grid()
    ax.set_xlabel(f"waiting time promised by the first reservation ({unit})")
    ax.set_ylabel(f"actual waiting time ({unit})")
    ax.legend(loc="upper left", fontsize="medium")
    set_title(ax, title)
    return ax
