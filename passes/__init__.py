"""Passes over the IR of a kernel: one file a pass, pipelines as data.

Start with `framework` (what a pass and a pipeline are); `registry` names every pass.
"""

if __name__ != "pykern.passes":
    raise ImportError("import this package as pykern.passes, not as passes")
