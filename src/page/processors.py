"""How many processes the commands use unless `--jobs` says otherwise."""

from __future__ import annotations

import os


def processors() -> int:
    """Return the number of processors that this process may use, or that there are where the system does not say."""
    try:
        return max(len(os.sched_getaffinity(0)), 1)
    except (AttributeError, OSError):
        return max(os.cpu_count() or 1, 1)
