"""The kern dialect: what MLIR lacks to say "a kernel over an index space".

Start with `kern.py` (the op classes) and `definition.py` (their IRDL).
"""

if __name__ != "pykern.dialect":
    raise ImportError("import this package as pykern.dialect, not as dialect")
