"""The bodies of the two commands: options in, files and a page out.  `run.py` and `derisk.py` only start them.

May import everything.  Start with `run`; `show` is `run.py show`, the other subcommands are in
`src/traces`.  Each module has a `main` from the arguments to an `Outcome`.
"""
