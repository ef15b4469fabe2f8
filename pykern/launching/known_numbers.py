"""Which numbers of a launch its code may know: small lengths, steps and counts, which make other code of a kernel.

Comes in: what the compiler says is worth to be known of a kernel (`pykern.passes.analysis.short_numbers`), and the
slots of a launch. Goes out: pairs of a slot and what it holds. Launches come here when their kind is new, and the first
large ones with a small number (`pykern.lowering.llvm.small_numbers`). Read next: `pykern.launching.launch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pykern.data.artifact import SHORT_NUMBERS, Artifact
from pykern.data.small_numbers import FEWEST_ELEMENTS
from pykern.launching.launch_kind import LaunchKind
from pykern.launching.short_lengths import Known

MOST_KNOWN = 4
"""Codes of one kernel and one kind of arguments for numbers that are known."""
MOST_SEEN = 4
"""Numbers that are kept in mind until they are seen again: of scalars that differ in each launch there is no end."""


@dataclass
class KnownNumbers:
    """Of one kernel and one kind of arguments."""

    made: set[Known] = field(default_factory=set)
    """For which there is code."""
    seen: set[Known] = field(default_factory=set)
    """Those with scalars that were seen once."""

    def choose(self, artifact: Artifact, slots: Sequence[int], kind: LaunchKind) -> Known:
        """What code for this launch may know: nothing, where it is not worth it. Scalars often differ in each launch,
        so that code with known ones is made for the second launch with them."""
        found = worth_knowing(artifact, slots)
        if not found or kind.elements < FEWEST_ELEMENTS:
            return ()
        if found in self.made:
            return found
        if len(self.made) == MOST_KNOWN:
            return ()
        scalars = kind.scalar_slots
        if any(slot in scalars for slot, _ in found) and found not in self.seen:
            if len(self.seen) < MOST_SEEN:
                self.seen.add(found)
            return ()
        self.made.add(found)
        return found


def worth_knowing(artifact: Artifact, slots: Sequence[int]) -> Known:
    """The small numbers of a launch among those that its code asks for."""
    chains = artifact.resources[SHORT_NUMBERS]
    found: dict[int, int] = {}
    for most, chain in chains:  # type: ignore[attr-defined]
        for slot in chain:
            if not 0 < abs(slots[slot]) <= most:
                break
            found[slot] = slots[slot]
    return tuple(sorted(found.items()))
