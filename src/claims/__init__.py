"""The claims: what stands in `results/main.json` and in the report, each computed and set beside what it is held to.

May import the model, the policies and the walks.  Start with `claim` (what a claim is), then `study` and `derisk` (the
study's own); `without_rule`, `all_lengths` and `theorems` go beyond it.  `reduction`, `width` and `augmentation` say
what LRU costs on each trie, and why.
"""
