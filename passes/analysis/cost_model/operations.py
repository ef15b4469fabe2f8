"""What one operation costs beside another, and how often loops are taken to run."""

from __future__ import annotations

STORE_COST = 4
"""Additions that a store and a load from the first cache cost: values that cost less are computed again."""
COSTS = {"arith.divf": 10, "arith.divsi": 20, "arith.divui": 20, "arith.remf": 40, "math.sqrt": 10}
"""Additions that an operation costs; those that are not here cost one."""
CHEAP_REPEATS = 2
"""Times that a cheap operation may be computed for an element of a factor, rather than once into memory."""
LANE_ACCESS_COST = 3
"""Operations on vectors that an access made lane by lane may cost."""
ASSUMED_TRIPS = 16
"""Iterations of a loop whose bounds are data."""
CHOSEN_LOADS = 4
"""Places that are all read side by side where an index is one of them: gathering takes longer than so many vectors."""
SPECULATED_OPS = 4
"""Operations of a branch beside its loads that are computed whether it is taken or not."""
MOST_NEST_WORK = 1 << 31
"""Operations of a nest of loops where they are more: products of them would overflow."""
OWN_SUM_ITEMS = 4
"""Work-items a cell from which sums of a thread's own pay: zeroing and adding them is work for each cell."""
TESTS_OF_EXTREME = 2
"""Operations beside the extreme itself by which x86 keeps NaN in a minimum or maximum: a test and a choice."""
INDEX_STEPS = 8
"""Operations between a number and an index that is made of it, as far as anybody looks."""
