"""Differentiation. `rules` holds the mathematics; `direct` differentiates kernels work-item by work-item.

Comes in: a kernel on the kern stage. Goes out: the same function with shadows beside what is
differentiated. Read next: `rules.table`, then `direct.reverse`.
"""
