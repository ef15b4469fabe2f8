"""The side that runs: loads compiled code, calls it, and knows nothing of MLIR.

`launchable` is the type of kernel objects, `cpu_table` what compiled code needs of the process,
`loader` loads it, `python_device` is the reference that runs kernels as plain Python.
"""
