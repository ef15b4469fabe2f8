"""All computations of the suite `forms`, and those of its quick part."""

from __future__ import annotations

from forms_branches import BRANCHES
from forms_channels import CHANNELS
from forms_common import COMMON
from forms_grids import GRIDS
from forms_images import IMAGES
from forms_joined import JOINED
from forms_launches import LAUNCHES
from forms_lines import LINES
from forms_parts import PARTS
from forms_points import POINTS
from forms_products import PRODUCTS
from forms_records import RECORDS
from forms_rows import ROWS
from forms_scans import SCANS
from forms_setting import Computation, Form
from forms_shared import SHARED
from forms_small import SMALL
from forms_stencils import STENCILS
from forms_sweeps import SWEEPS
from forms_tables import TABLES

COMPUTATIONS: tuple[Computation, ...] = (
    *STENCILS,
    *ROWS,
    *POINTS,
    *CHANNELS,
    *SWEEPS,
    *TABLES,
    *BRANCHES,
    *PRODUCTS,
    *IMAGES,
    *RECORDS,
    *SHARED,
    *GRIDS,
    *LINES,
    *SMALL,
    *COMMON,
    *PARTS,
    *LAUNCHES,
    *SCANS,
    *JOINED,
)
QUICK = {"heat", "clamped", "periodic", "row sum", "product", "axpy", "distances"}

__all__ = ["COMPUTATIONS", "QUICK", "Computation", "Form"]
