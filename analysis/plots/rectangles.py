"""The rectangles of Gantt charts, thousands of them drawn at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

Rectangle = tuple[float, float, float, float]
"""Left, right, bottom, top."""


def draw_rectangles(ax: Axes, rectangles: Sequence[Rectangle], face: Sequence[str], hatch: str = "") -> None:
    """Draw rectangles with thin white borders; ``face`` has one colour each."""
    if not rectangles:
        return
    sides = np.array(rectangles)
    left, right, bottom, top = sides.T
    corners = np.stack(
        [np.stack([x, y], axis=-1) for x, y in ((left, bottom), (right, bottom), (right, top), (left, top))], axis=1
    )
    many = len(rectangles) > 4000
    ax.add_collection(
        PolyCollection(
            list(corners),
            facecolors=list(face),
            edgecolors="white",
            linewidths=0.0 if many else 0.35,
            hatch=hatch or None,
            rasterized=many,
        ),
        autolim=False,
    )
