"""All sequences up to a length, and all lengths at once: caches and the optimum as finite machines.

May import the model and the policies.  Start with `exhaustive` (machines, and walks over all sequences with shared
states), then `lru_machine`, `policy_machine`, `flat_machine` and `work_function` (the machines).  `beside_optimum` puts
two of them side by side, `symmetry` merges states, `cycles` and `every_length` settle all lengths, `forests` lists
every small trie, `adversary` searches for a policy's worst ratio.  `belady` is the optimum step by step,
`online_game` the best online policy, `chance` policies that flip coins; `whole_nodes` and `whole_node_optimum` evict as
SGLang does.
"""
