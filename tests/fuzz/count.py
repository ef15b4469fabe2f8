"""How much random tests run: ``PYKERN_FUZZ=N`` programs on the CPU, of kinds that take longer a share of that.

300 unless told, so that a run of all tests takes minutes; `make test-all` runs thousands.
"""

from __future__ import annotations

import os

USUAL = 300
PROGRAMS = int(os.environ.get("PYKERN_FUZZ", USUAL))
