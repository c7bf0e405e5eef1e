"""``python -m experiments.checks.elsewhere POLICY CASES SEED``: play the worlds of a check, print their digests."""

from __future__ import annotations

import json
import sys

from experiments.checks.house import digests_of

if __name__ == "__main__":
    print(json.dumps(digests_of(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
