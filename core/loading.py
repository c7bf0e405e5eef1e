"""Loads the compiled module; signals wait meanwhile.

The module makes enumerations by Python's own class. An exception there, such as that of Ctrl-C, cannot leave C++ and
would abort the process.
"""

import importlib
import signal

_SIGNALS = {signal.SIGINT, signal.SIGTERM}

_before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
try:
    importlib.import_module("spillway.core._native")
finally:
    signal.pthread_sigmask(signal.SIG_SETMASK, _before)
