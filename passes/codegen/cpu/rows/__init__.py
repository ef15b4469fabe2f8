"""Ops that work row by row become one loop over the rows.

Comes in: linalg.generic ops on buffers, one after the other. Goes out: one function that takes each row
through all of them while it is in the cache; what only they use is a row of scratch, or a register.

Which ops go together is decided in `pykern.passes.fusion.rows`. Read `values` (what is computed, each value once),
`schedule` (in which pass over the row), `hosts` (what waits in a result), `emit` (the loops).
"""
