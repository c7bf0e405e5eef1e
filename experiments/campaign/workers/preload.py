"""Modules that the fork server of :mod:`spillway.experiments.campaign.workers.pool` loads before it forks."""

from __future__ import annotations

from spillway.experiments.run import provenance, single
from spillway.simulator.engines import native

__all__ = ["native", "single"]

provenance.versions()
provenance.metrics_code()
