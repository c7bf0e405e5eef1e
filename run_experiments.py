#!/usr/bin/env python3
"""Repeat scheduling experiments: the demo campaign, a campaign file, or one comparison. See --help."""

import sys

from spillway.experiments.cli import main

if __name__ == "__main__":
    sys.exit(main())
