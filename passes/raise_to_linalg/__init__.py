"""Work-items and loops become linalg on tensors, where that is proved to mean the same.

Comes in: a function marked `kern.kernel` on the kern stage. Goes out: the same function on tensors,
marked `kern.raised`, or a `NotRaisable` with the line and the reason.

    reading       ops -> expressions over dimensions, and statements       (expressions, forms, program)
    independence  two accesses of one cell: the same work-item? the same iteration?
    loops         parallel, a reduction, or kept in sequence
    writing       statements -> linalg                                     (boxes, views, bodies)

Read next: `raise_to_linalg`, which puts them together.
"""
