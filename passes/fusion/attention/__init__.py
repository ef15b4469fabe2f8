"""Attention without its matrix of scores: `softmax(score(q @ k.T)) @ v` is recognised and becomes one call.

Comes in: programs on tensors. Goes out: one call in place of two products and what is between them, which
`codegen.cpu.attention` turns into loops. Read `pattern` (what is recognised), `score` (what is done with a product of
a query and a key), then `outline_attention` (the pass), then `calls` (what an emitter is told of such a call).
"""
