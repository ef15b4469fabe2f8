"""All computations of the suite `forms`, and those of its quick part."""

from __future__ import annotations

from forms_channels import CHANNELS
from forms_points import POINTS
from forms_rows import ROWS
from forms_setting import Computation, Form
from forms_stencils import STENCILS
from forms_sweeps import SWEEPS

COMPUTATIONS: tuple[Computation, ...] = (*STENCILS, *ROWS, *POINTS, *CHANNELS, *SWEEPS)
QUICK = {"heat", "clamped", "periodic", "row sum", "product", "axpy", "distances"}

__all__ = ["COMPUTATIONS", "QUICK", "Computation", "Form"]
