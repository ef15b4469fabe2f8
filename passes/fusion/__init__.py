"""Which operations are computed together, and which stay apart: on tensors, then on buffers.

Start with `docs/design/fusion.md`. `legality` says what may be computed together, `rows` finds what goes row by row.
"""
