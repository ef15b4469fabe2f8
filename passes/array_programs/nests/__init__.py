"""linalg ops on buffers become functions of loops.

Read `space` (the iteration space of an op and the order of its loops), `emit` (the loops), `make` (the pass).
"""
