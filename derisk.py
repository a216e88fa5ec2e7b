#!/usr/bin/env python3
"""The adversarial search: the pre-registered comparison, or the worst ratio of any eviction policy."""

import os
import sys

if __name__ == "__main__":
    if sys.version_info < (3, 9):  # noqa: UP036 - so this file keeps to what every Python can read
        sys.stderr.write("derisk.py: this Python is too old: run it with 3.9 or later\n")
        sys.exit(2)
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # which python3 -I and -P leave out
    from src.page.guard import guarded

    sys.exit(guarded("src.commands.derisk"))
