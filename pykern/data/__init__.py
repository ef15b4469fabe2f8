"""Plain data that the process of the user and that of the compiler exchange, and what it is made of.

Nothing here imports MLIR, starts a process or opens a device.
"""
