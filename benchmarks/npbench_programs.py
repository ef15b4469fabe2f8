"""The programs of NPBench that are written here, family by family. Read next: `npbench_points`."""

from __future__ import annotations

# fmt: off
import npbench_complex  # noqa: F401
import npbench_grids  # noqa: F401
import npbench_matrices  # noqa: F401
import npbench_networks  # noqa: F401
import npbench_points  # noqa: F401
import npbench_solvers  # noqa: F401
import npbench_sparse  # noqa: F401
import npbench_stencils  # noqa: F401
import npbench_waves  # noqa: F401
from npbench_setting import FORMS

# fmt: on

BENCHMARKS = list(dict.fromkeys(one.benchmark for one in FORMS))
