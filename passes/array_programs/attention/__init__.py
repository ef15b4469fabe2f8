"""Attention without its matrix of scores: `softmax(score(q @ k.T)) @ v` in tiles.

Comes in: programs on tensors. Goes out: one call in place of two products and what is between them, later loops
over tiles with a running maximum and sum. Read `pattern` (what is recognised), `score` (what is done with a
product of a query and a key), `outline` (the pass), then `panels` and
`tiles` (the loops).
"""
