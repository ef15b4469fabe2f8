"""SPIR-V for OpenCL and Vulkan: `target` (which of them, what it can), `pipeline`, `binary`.

Comes in: a module on the kern stage. Goes out: a SPIR-V binary with one entry point.
"""
