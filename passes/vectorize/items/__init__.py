"""Work-items side by side: the loop over work-items takes W at a time, each in a lane of a vector.

Start with `vectorize_items` (the pass); `lanes` says what is the same in all lanes, `worth` which kernels gain,
`emit` writes the body for W work-items, `rows` copies rows that are read often into lane order.
"""
