"""The evaluation of Zhang et al. (JSSPP 2003): gang scheduling with files on the nodes."""

from pathlib import Path

from spillway.experiments.studies.description import read_study
from spillway.experiments.studies.gang.measures import ShareOfGain
from spillway.experiments.studies.gang.play import audited_as, play, same, seen
from spillway.experiments.studies.gang.wire import play_by_product
from spillway.experiments.studies.study import Computed

STUDY = read_study(
    Path(__file__).with_name("study.toml"),
    Computed(
        play,
        policies=lambda point: [point.text("policy")],
        audit=play_by_product,
        tolerance=0.0,
        batch=4,
        same=same,
        seen=seen,
        audited_as=audited_as,
    ),
    measures={"share of gain": ShareOfGain},
)
