"""Command-line tools: `cli` is ``pykern``, `opt` is ``pykern-opt``."""
