"""What the requests of subgroups cost: segments of global memory that they touch, steps of the banks of shared memory.

Comes in: accesses as arrays: the number of their request, from 0 on, lane, address, bytes. Goes out: for each request
how many there are, and the least possible.

Global memory moves in segments (NVIDIA, "CUDA C++ Best Practices Guide", coalesced access). Shared memory has 32 banks
of 4 bytes, which serve as many lanes at once as fill 128 bytes; lanes that ask for the same word share it.
"""

from __future__ import annotations

import numpy as np

BANKS, BANK_BYTES = 32, 4
Costs = tuple[np.ndarray, np.ndarray]


def occurrences(*keys: np.ndarray) -> np.ndarray:
    """For each element, how many before it have the same keys."""
    order = np.lexsort(keys)  # which is stable
    sorted_keys = [key[order] for key in keys]
    begins = np.ones(len(order), bool)
    begins[1:] = np.any([key[1:] != key[:-1] for key in sorted_keys], axis=0)
    places = np.arange(len(order))
    found = np.empty(len(order), np.int64)
    found[order] = places - np.maximum.accumulate(np.where(begins, places, 0))
    return found


def numbered(*keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A number from 0 on for each element, the same where all keys are; and an element of each number."""
    order = np.lexsort(keys)
    begins = np.ones(len(order), bool)
    begins[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    found = np.empty(len(order), np.int64)
    found[order] = np.cumsum(begins) - 1
    return found, order[begins]


def segments(request: np.ndarray, address: np.ndarray, nbytes: np.ndarray, segment: int) -> Costs:
    """Segments that each request touches, and those that would hold its bytes."""
    count = int(request.max()) + 1
    ends = address // segment, (address + nbytes - 1) // segment
    touched = _distinct(np.tile(request, 2), np.concatenate(ends))
    _, one = numbered(request, address, nbytes)
    asked = np.bincount(request[one], nbytes[one], count).astype(np.int64)
    found = np.bincount(touched, minlength=count)
    return found, np.minimum(-(-asked // segment), found)


def bank_steps(request: np.ndarray, lane: np.ndarray, address: np.ndarray, nbytes: np.ndarray) -> Costs:
    """How often the banks are asked: in each phase, as many times as the bank has different words that most are asked
    of; and the number of phases."""
    phase = lane // (BANKS * BANK_BYTES // np.maximum(nbytes, BANK_BYTES))
    first, last = address // BANK_BYTES, (address + nbytes - 1) // BANK_BYTES
    words = np.arange(int((last - first).max()) + 1)
    asked = first[:, None] + words
    inside = (asked <= last[:, None]).ravel()
    request, phase = (np.repeat(of, len(words))[inside] for of in (request, phase))
    asked = asked.ravel()[inside]
    _, one = numbered(request, phase, asked)
    request, phase, bank = request[one], phase[one], asked[one] % BANKS
    of_bank, one = numbered(request, phase, bank)
    conflicts = np.bincount(of_bank)
    request, phase = request[one], phase[one]
    of_phase, first_of_phase = numbered(request, phase)
    steps = np.zeros(len(first_of_phase), np.int64)
    np.maximum.at(steps, of_phase, conflicts)
    request = request[first_of_phase]
    return np.bincount(request, steps).astype(np.int64), np.bincount(request)


def _distinct(request: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The request of each distinct pair."""
    _, one = numbered(request, other)
    return request[one]
