"""The bodies of the two commands: options in, files and a page out.  `run.py` and `derisk.py` only start them.

May import everything.  Start with `run`, which loads what is asked for: `study`, the claims, or `show`; `replay` and
`tune` are in `src/traces`.  Each module has a `main` from the arguments to an `Outcome`.
"""
