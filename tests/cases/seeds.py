"""Which random cases run: the same few in every run, others in `make test-all`.

``PYKERN_FUZZ_SEED=S`` starts at another seed, and ``PYKERN_FUZZ=N`` scales how many run (`tests.cases.count`). A seed
is the test's parameter, so that a failure names it: ``PYKERN_FUZZ_SEED=S`` and the test's name without it run it again.
"""

from __future__ import annotations

import os

from tests.cases.count import FULL, PROGRAMS

_FIRST = int(os.environ.get("PYKERN_FUZZ_SEED") or 0)


def seeds(count: int) -> list[int]:
    """`count` seeds where 300 random programs run, as many more (or fewer) as there are more of these."""
    return [_FIRST + n for n in range(max(1, count * PROGRAMS // FULL))]
