"""Real traces: files in, requests out, and what any policy and the exact optimum hit on them.

May import the model, the policies, the engines and the page.  Start with `reading` (what a trace is; `files`,
`strict_json`, `records` and `logs` are its parts), then `replay` (any policy) and `workload` (what of it is counted;
`in_flight` is for requests that overlap in time).  `optimum` and `lru_curve` answer for every capacity, `explanation`
tells why the optimum wins, `engines` sets the real systems beside the model.  `command` is `run.py replay`: `options`,
then `comparison` with `cells` for several processes, then `about`, `verdict` and `texts`; `merge` joins.  `tuning` is
`run.py tune`.
"""
