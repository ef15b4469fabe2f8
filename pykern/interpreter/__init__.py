"""MLIR run as Python: an independent reading of every stage of a kernel, for finding the pass at fault.

`python_of` makes Python functions of a module's functions (`translate`, `emit`, and a file of rules a dialect);
`memory` is what they load from; `run_stage` calls them as a launch would. Slow, and made for small sizes.
"""
