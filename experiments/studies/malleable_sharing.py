"""Singh & Carretero 2019, sections 5.2 and 7: idle processes shared among four applications by three rules.

Percentages are whole in the paper, so 0.5 are allowed on both sides; everything else that it states is an order.
"""

from pathlib import Path

from spillway.experiments.studies.description import read_study
from spillway.experiments.studies.malleable.four import play, same
from spillway.experiments.studies.malleable.sharing_figure import draw
from spillway.experiments.studies.study import Computed

STUDY = read_study(
    Path(__file__).with_name("malleable") / "sharing.toml", Computed(play, same=same, batch=4), figures=[draw]
)
