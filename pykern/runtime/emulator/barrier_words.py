"""The word of an mbarrier, whose form is the hardware's own secret.

Goes out: `BarrierWord`. There are arrivals that are still to come, bytes that are, the arrivals of each phase, and the
phase's parity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

PHASE_BIT = 62
_BYTES_BITS, _COUNT_BITS = 21, 20
_ZERO_BYTES = 1 << (_BYTES_BITS - 1)
"""Bytes may have come before they are told of."""
_IS_ONE = 1 << 63


@dataclass(frozen=True)
class BarrierWord:
    """What an mbarrier knows."""

    expected: int
    pending: int
    bytes_to_come: int = 0
    phase: int = 0

    @classmethod
    def of(cls, word: int) -> BarrierWord | None:
        """None for a word that is no mbarrier."""
        if not word & _IS_ONE:
            return None
        counts = word >> _BYTES_BITS
        return cls(
            expected=counts >> _COUNT_BITS & ((1 << _COUNT_BITS) - 1),
            pending=counts & ((1 << _COUNT_BITS) - 1),
            bytes_to_come=(word & ((1 << _BYTES_BITS) - 1)) - _ZERO_BYTES,
            phase=word >> PHASE_BIT & 1,
        )

    @property
    def word(self) -> int:
        counts = (self.expected << _COUNT_BITS | self.pending) << _BYTES_BITS
        return _IS_ONE | self.phase << PHASE_BIT | counts | self.bytes_to_come + _ZERO_BYTES

    def changed(self, arrivals: int, more_bytes: int) -> BarrierWord | None:
        """After arrivals and bytes that are told of, or have come; None where too many arrive."""
        pending, to_come = self.pending - arrivals, self.bytes_to_come + more_bytes
        if pending < 0 or abs(to_come) >= _ZERO_BYTES:
            return None
        if pending == 0 and to_come == 0:
            return replace(self, pending=self.expected, bytes_to_come=0, phase=1 - self.phase)
        return replace(self, pending=pending, bytes_to_come=to_come)
