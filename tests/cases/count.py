"""How much random tests run: ``PYKERN_FUZZ=N`` programs on the CPU, of kinds that take longer a share of that.

50 unless told, so that a run of all tests takes minutes; `make test-all` runs thousands, from other seeds.
"""

from __future__ import annotations

import os

FULL = 300
"""For which every test of random programs says how many it runs."""
PROGRAMS = int(os.environ.get("PYKERN_FUZZ", "50"))
