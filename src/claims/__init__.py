"""The claims: what stands in `results/main.json` and in the report, each computed and set beside what it is held to.

May import the model, the policies, the walks, the engines and the page.  Start with `claim` (what a claim is), then
`study`, `online` and `derisk` (the study's own); the others go beyond it.  `schedule` is what a manager does request by
request, `picture` draws it; `report` tells it all, and `families` computes all, in processes.
"""
