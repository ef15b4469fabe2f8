"""Structured operations on buffers become functions of loops for the CPU.

Start with `make_nests`, the pass: each operation becomes a function. The folders hold the kinds of functions:
`loop_nest` (elementwise operations and reductions, in which all of them build their loops), `rows` (operations that
stay within rows), `transposed`, `dual_matvec`, `contraction` and `attention`.
"""
