"""The least costly set of values that separates what is given from what is read: a minimum cut.

Comes in: a graph of values, each with a cost, the values that are given, and those that are read. Goes out: the values
to keep. By the theorem of Ford and Fulkerson these are as cheap as the largest flow; found with shortest augmenting
paths, level by level (Dinic, 1970). `residuals` says what the values are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

NEVER = 1 << 62
"""The cost of a value that cannot be kept."""
_SOURCE, _SINK = 0, 1


def least_cut(
    costs: Sequence[int], reads: Mapping[int, Iterable[int]], given: Iterable[int], wanted: Iterable[int]
) -> list[int]:
    """The values to keep, in order, so that each of `wanted` is kept or computed from what is kept.

    `costs[v]` is what keeping `v` costs; `reads[v]` are the values that it is computed from; `given` are there for
    nothing until they are kept. Of sets that cost the same it is the one next to `wanted`.
    """
    network = _Network(2 + 2 * len(costs))
    for value, cost in enumerate(costs):
        network.connect(_enter(value), _leave(value), cost)
        for read in reads.get(value, ()):
            network.connect(_leave(read), _enter(value), NEVER)
    for value in given:
        network.connect(_SOURCE, _enter(value), NEVER)
    for value in wanted:
        network.connect(_leave(value), _SINK, NEVER)
    network.saturate()
    near = network.reaching_sink()
    return [v for v in range(len(costs)) if near[_leave(v)] and not near[_enter(v)]]


def _enter(value: int) -> int:
    return 2 + 2 * value


def _leave(value: int) -> int:
    return 3 + 2 * value


class _Network:
    """Edges lie in pairs, each beside the one that takes its flow back."""

    def __init__(self, nodes: int) -> None:
        self.edges: list[list[int]] = [[] for _ in range(nodes)]
        self.target: list[int] = []
        self.room: list[int] = []

    def connect(self, source: int, target: int, room: int) -> None:
        for start, end, capacity in ((source, target, room), (target, source, 0)):
            self.edges[start].append(len(self.target))
            self.target.append(end)
            self.room.append(capacity)

    def saturate(self) -> None:
        """Send as much as fits."""
        while (levels := self._levels())[_SINK] >= 0:
            started = [0] * len(self.edges)
            while self._push(levels, started):
                pass

    def reaching_sink(self) -> list[bool]:
        """For every node, whether the residual network has a path from it to the sink."""
        found = [False] * len(self.edges)
        found[_SINK] = True
        waiting = [_SINK]
        while waiting:
            for edge in self.edges[waiting.pop()]:
                before = self.target[edge]
                if self.room[edge ^ 1] and not found[before]:
                    found[before] = True
                    waiting.append(before)
        return found

    def _levels(self) -> list[int]:
        levels = [-1] * len(self.edges)
        levels[_SOURCE] = 0
        waiting = deque([_SOURCE])
        while waiting:
            node = waiting.popleft()
            for edge in self.edges[node]:
                if self.room[edge] and levels[self.target[edge]] < 0:
                    levels[self.target[edge]] = levels[node] + 1
                    waiting.append(self.target[edge])
        return levels

    def _push(self, levels: list[int], started: list[int]) -> bool:
        """Along one shortest path; False where there is none. `started`: the edges of a node that lead nowhere are
        behind."""
        path: list[int] = []
        node = _SOURCE
        while node != _SINK:
            if started[node] == len(self.edges[node]):
                if not path:
                    return False
                node = self.target[path.pop() ^ 1]
                started[node] += 1
                continue
            edge = self.edges[node][started[node]]
            if self.room[edge] and levels[self.target[edge]] == levels[node] + 1:
                path.append(edge)
                node = self.target[edge]
            else:
                started[node] += 1
        least = min(self.room[edge] for edge in path)
        for edge in path:
            self.room[edge] -= least
            self.room[edge ^ 1] += least
        return True
