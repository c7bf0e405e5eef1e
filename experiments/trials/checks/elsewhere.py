"""``python -m spillway.experiments.trials.checks.elsewhere POLICY EXTENT``: play the worlds of a check, print their
digests."""

from __future__ import annotations

import json
import sys

import msgspec

from spillway.experiments.trials.checks.house import Extent, digests_of

if __name__ == "__main__":
    print(json.dumps(digests_of(sys.argv[1], msgspec.json.decode(sys.argv[2], type=Extent))))
