"""The least cut against trying every set of values."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from pykern.passes.autodiff.tensor.cut import NEVER, least_cut


def is_enough(kept: set[int], reads: dict[int, list[int]], given: set[int], wanted: list[int]) -> bool:
    """Whether all that is wanted is kept, or computed from what is kept: nothing that is given is read unkept."""
    waiting, seen = list(wanted), set()
    while waiting:
        value = waiting.pop()
        if value in kept or value in seen:
            continue
        if value in given:
            return False
        seen.add(value)
        waiting += reads.get(value, [])
    return True


@pytest.mark.parametrize("seed", range(200))
def test_no_set_costs_less(seed: int) -> None:
    random = Random(seed)
    count = random.randint(1, 9)
    given = {v for v in range(count) if v == 0 or random.random() < 0.3}
    reads = {v: random.sample(range(v), random.randint(1, min(v, 3))) for v in range(count) if v not in given}
    costs = [random.randint(1, 9) if v in given or random.random() < 0.8 else NEVER for v in range(count)]
    wanted = random.sample(range(count), random.randint(0, min(3, count)))
    found = least_cut(costs, reads, given, wanted)
    assert is_enough(set(found), reads, given, wanted)
    sets = (s for n in range(count + 1) for s in combinations(range(count), n))
    best = min(sum(costs[v] for v in s) for s in sets if is_enough(set(s), reads, given, wanted))
    assert sum(costs[v] for v in found) == best


def test_next_to_what_is_read_where_all_cost_the_same() -> None:
    assert least_cut([5, 5, 5], {1: [0], 2: [1]}, [0], [2]) == [2]


def test_one_value_that_many_come_from() -> None:
    assert least_cut([5, 4, 4], {1: [0], 2: [0]}, [0], [1, 2]) == [0]
