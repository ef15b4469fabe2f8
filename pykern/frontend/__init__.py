"""From the Python source of a kernel to the kern dialect, typed, every op at its line and column.

The way: `parse` (text to AST), `desugar` (break, continue and return become flags and branches),
`translator` (statements and expressions to ops) with `arithmetic`, `casts`, `control`, `mathematics`
and `language_ops` for the detail, `kernel` puts the function together.
"""
