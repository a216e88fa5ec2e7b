"""Eviction policies: what a policy may know of a block, SGLang's scores, and one plain cache over any of them.

May import the model.  Start with `facts`, then `scores`; `cache` is the plain form that everything faster is held to.
`research` has the literature's policies and one of our own, which `returns` teaches; `user_file` loads one from a file,
`checked` holds any score to what a score is, `dependence` finds out what it depends on.
"""
