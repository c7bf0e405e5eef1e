"""``python -m spillway.experiments.cli``: the same program as ``spillway``."""

import sys

from spillway.experiments.cli import main

if __name__ == "__main__":
    sys.exit(main())
