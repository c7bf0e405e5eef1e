"""Idle time of nodes while burst buffers are staged, by the buffers' life: Tuolumne's 1,152 nodes and 72 rabbits."""

from pathlib import Path

from spillway.experiments.studies.description import read_study
from spillway.experiments.studies.product import Product
from spillway.experiments.studies.production_buffers.measures import measure
from spillway.experiments.studies.production_buffers.play import policy, workload

STUDY = read_study(Path(__file__).with_name("study.toml"), Product(workload=workload, policy=policy, measure=measure))
