"""``python -m workloads``: assembly of the command line only."""

from __future__ import annotations

import sys

from workloads.cli import main

sys.exit(main())
