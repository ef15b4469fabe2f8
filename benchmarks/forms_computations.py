"""All computations of the suite `forms`, and those of its quick part."""

from __future__ import annotations

from forms_points import POINTS
from forms_rows import ROWS
from forms_setting import Computation, Form
from forms_stencils import STENCILS

COMPUTATIONS: tuple[Computation, ...] = (*STENCILS, *ROWS, *POINTS)
QUICK = {"heat", "clamped", "periodic", "row sum", "product", "axpy", "distances"}

__all__ = ["COMPUTATIONS", "QUICK", "Computation", "Form"]
