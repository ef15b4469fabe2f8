"""Binomial checkpointing: which states to keep so that a loop is reversed with the fewest steps.

Griewank and Walther, "Algorithm 799: revolve", ACM TOMS 26 (2000): with c states kept at a time, n trips
take ``r n - C(c + r, r - 1)`` forward steps, where r is the least with ``C(c + r, c) >= n``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb


@dataclass(frozen=True)
class Replay:
    """From the state in slot `source`, which stands before trip `first`, run to before `last`, into `target`."""

    source: int
    first: int
    last: int
    target: int


@dataclass(frozen=True)
class CheckpointSchedule:
    """How to reverse `trips` trips with `kept` states and one to work in, slot `kept`.

    `first`: the trips before which the forward run keeps its state, in slots 0, 1, ...
    `replays[t]`: what runs before trip t is reversed; its state is in slot `states[t]` then.
    """

    trips: int
    kept: int
    first: tuple[int, ...]
    replays: tuple[tuple[Replay, ...], ...]
    states: tuple[int, ...]

    @property
    def steps(self) -> int:
        """Forward steps of the replays."""
        return sum(replay.last - replay.first for trip in self.replays for replay in trip)


def least_steps(trips: int, kept: int) -> int:
    """Forward steps, to each trip once at least, that reversing takes; the state before the first is kept."""
    if trips <= 1:
        return 0
    repeats = 1
    while comb(kept + repeats, kept) < trips:
        repeats += 1
    return repeats * trips - comb(kept + repeats, repeats - 1)


def schedule(trips: int, kept: int) -> CheckpointSchedule:
    """The best schedule for ``kept >= 1`` states, the initial one among them."""
    stack = [0]  # the trips before which a state is kept; slot k holds the k-th
    while len(stack) < kept and stack[-1] < trips - 1:
        stack.append(stack[-1] + _split(trips - stack[-1], kept - len(stack) + 1))
    first = tuple(stack)
    replays: list[tuple[Replay, ...]] = [()] * trips
    states = [0] * trips
    for trip in reversed(range(trips)):
        while stack[-1] > trip:
            stack.pop()
        found = []
        while stack[-1] < trip and len(stack) < kept:
            start = stack[-1]
            stack.append(start + _split(trip + 1 - start, kept - len(stack) + 1))
            found.append(Replay(len(stack) - 2, start, stack[-1], len(stack) - 1))
        states[trip] = len(stack) - 1
        if stack[-1] < trip:
            states[trip] = kept
            found.append(Replay(len(stack) - 1, stack[-1], trip, kept))
        replays[trip] = tuple(found)
    return CheckpointSchedule(trips, kept, first, tuple(replays), tuple(states))


def _split(trips: int, kept: int) -> int:
    """How far to run before the next state is kept: where the steps of both parts are fewest."""

    def steps(advance: int) -> int:
        return advance + least_steps(advance, kept) + least_steps(trips - advance, kept - 1)

    low, high = 1, trips - 1  # steps is convex
    while low < high:
        middle = (low + high) // 2
        if steps(middle) <= steps(middle + 1):
            high = middle
        else:
            low = middle + 1
    return low
