"""The evaluation of Zhang et al. (JSSPP 2003): gang scheduling with files on the nodes."""

from pathlib import Path

from spillway.experiments.studies.description import read_study
from spillway.experiments.studies.gang.measures import ShareOfGain
from spillway.experiments.studies.gang.play import play, same, seen
from spillway.experiments.studies.study import ComputedPoints

STUDY = read_study(
    Path(__file__).with_name("study.toml"),
    ComputedPoints(
        play,
        policies=lambda point: [point.text("policy")],
        batch=4,
        same=same,
        seen=seen,
    ),
    measures={"share of gain": ShareOfGain},
)
