"""Real traces: files in, requests out, and what any policy and the exact optimum hit on them.

May import the model, the policies, the engines and the page.  Start with `reading` (what a trace is), then `replay`
(any policy); `optimum` and `lru_curve` answer for every capacity, `engines` sets the real systems beside the model,
`explanation` tells why the optimum wins, `command` is `run.py replay` and `tuning` is `run.py tune`.
"""
