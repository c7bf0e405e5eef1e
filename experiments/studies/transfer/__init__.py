"""Do plans transfer? Planning, backfilling and the field's methods since 2019 on logs not used to choose settings.

Settings are chosen on the odd periods (``choosing.toml``); the even ones (``study.toml``) are looked at as rarely as
possible, and every look is recorded in ``looks.csv`` beside this module. ``--set period=...`` names others.
"""

from pathlib import Path

from spillway.experiments.studies.description import read_study
from spillway.experiments.studies.local_logs import at_hand_on
from spillway.experiments.studies.product import Product
from spillway.experiments.studies.transfer.logs import LOGS, platform, workload
from spillway.experiments.studies.transfer.measures import RatioToBest, ShareOfBetterRuns
from spillway.experiments.studies.transfer.play import measure, policy

STUDY, CHOOSING = (
    read_study(
        Path(__file__).with_name(name),
        Product(
            workload=workload,
            platform=platform,
            policy=policy,
            measure=measure,
            own=("period", "jobs", "load", "buffers"),
        ),
        measures={"better": ShareOfBetterRuns, "against_best": RatioToBest},
        has=at_hand_on("period", LOGS),
    )
    for name in ("study.toml", "choosing.toml")
)
