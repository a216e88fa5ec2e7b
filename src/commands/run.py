"""`python3 run.py`: the study, or what the first word names; only the modules of that are loaded."""

from __future__ import annotations

import gc
import importlib
import sys

from src.page.guard import Outcome

STUDY = "src.commands.study"
SUBCOMMANDS = {"replay": "src.traces.command", "show": "src.commands.show", "tune": "src.traces.tuning"}


def main(arguments: list[str]) -> Outcome:
    """Do as the arguments say.  Return page and status."""
    if sys.implementation.name == "cpython":
        gc.set_threshold(100_000)  # to look for cycles among many objects that have none takes a twentieth of the time
    named = arguments[:1] and arguments[0] in SUBCOMMANDS
    module = importlib.import_module(SUBCOMMANDS[arguments[0]] if named else STUDY)
    outcome: Outcome = module.main(arguments[1:] if named else arguments)
    return outcome
