"""Kernels as source text: C, OpenCL C, CUDA C++, HIP C++, Metal's language and WGSL.

Comes in: a module on the kern stage. Goes out: text that a person would commit, with the names of the user's variables
and loops as loops. Start with `target`; `printer` walks the structured IR, `language` is what languages differ in.
"""
