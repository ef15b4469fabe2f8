"""Loops whose iterations have an order, such as sums of floats: several rows at once, each in a lane of a vector.

Start with `vectorize_rows` (the pass); `chains` reads such a loop, `blocks` writes it for several rows,
`passes_over_rows` divides what is around it.
"""
