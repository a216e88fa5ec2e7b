"""The tests: one file for each module, run with `python3 -m unittest`."""
