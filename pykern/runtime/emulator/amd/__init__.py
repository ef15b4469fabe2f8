"""AMD's GPUs without one: `rocm:emulated` runs the assembly that is made for them on the host, every access checked.

Read in this order: `runtime` (the device), `bindings` (HIP's functions), `program` (a launch), `code` (what runs).
"""
