"""The evaluation of Kopański's thesis, repeated with its own rules: every published value, and its six conclusions."""

from pathlib import Path

from spillway.experiments.studies.description import read_study
from spillway.experiments.studies.product import Product
from spillway.experiments.studies.thesis.claims import VALUES
from spillway.experiments.studies.thesis.figures import FIGURES
from spillway.experiments.studies.thesis.play import lacks, measure, policy, workload

STUDY = read_study(
    Path(__file__).with_name("study.toml"),
    Product(workload=workload, policy=policy, measure=measure, own=("scale", "data")),
    claims=VALUES,
    figures=FIGURES,
    lacks=lacks,
)
