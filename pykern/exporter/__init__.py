"""Kernels as files for programs without Python: `pk.export` and ``pykern export``.

Start with `export`; `forms` are what a kernel can be exported as.
"""
