"""The compiler, seen from the user's process: ask for a kernel, find it on disk or have it made.

Read next: `service` (asks the compiler process), `cache` (kernels on disk), `versions` (what makes a
kernel on disk stale). Only `driver` imports MLIR, and only the compiler process imports `driver`.
"""
