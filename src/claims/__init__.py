"""The claims: what stands in `results/main.json` and in the report, each computed and set beside what it is held to.

May import the model, the policies, the walks and the page.  Start with `claim` (what a claim is), then `study` and
`derisk` (the study's own); `without_rule`, `all_lengths` and `theorems` go beyond it.  `schedule` is what a manager
does request by request, `picture` draws it, `show` is `run.py show`.
"""
