"""NVIDIA GPUs: `chips` (what each has), `options` (names of targets), `pipeline`, `target`, `ptxas`.

Comes in: a module on the kern stage. Goes out: PTX, and a cubin where ptxas is installed.
"""
