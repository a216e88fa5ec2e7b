"""How real systems keep and evict: SGLang's nodes, vLLM's free queue, a store of independent blocks, and our model.

May import the model and the policies.  Start with `engine` (what all of them do), then `vllm`, `store` and `sglang`,
plain classes, of which the tests hold the first and the last to recordings of the real ones; `block` is the model that
the study is about.  `sglang_queue` is SGLang again, fast enough for a trace.
"""
