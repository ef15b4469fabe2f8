"""Elementary functions as arithmetic that vectorises.

`ExpandMath` in `expand` is the pass; one file a family of functions holds the formulas, with their sources.
"""

from pykern.passes.math_expansion.expand import ExpandMath

__all__ = ["ExpandMath"]
