"""Which operations are computed together, and which stay apart: on tensors, then on buffers.

Start with `docs/design/fusion.md`. `planner` has all groups on buffers, in the order in which emitters get them;
`legality` says what may be computed together.
"""
