"""Grids over many machines: a global index space that ranks share, their halos, and what all of them compute together.

``pk.mpi.Grid`` is all there is to know; without MPI the same program runs in one process. Read next: `grid`.
"""

from pykern.mpi.grid import Grid
from pykern.mpi.overlap import Exchange

__all__ = ["Exchange", "Grid"]
