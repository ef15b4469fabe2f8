"""Times of one function, and their spread.

Comes in: seconds, one a round. Goes out: `Samples`, and lengths of time as people read them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Samples:
    """Seconds of one function's rounds, in the order they were taken."""

    seconds: tuple[float, ...]

    @property
    def min(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return self.quantile(0.5)

    @property
    def p10(self) -> float:
        """A tenth of the rounds took no longer."""
        return self.quantile(0.1)

    @property
    def p90(self) -> float:
        """A tenth of the rounds took longer."""
        return self.quantile(0.9)

    def quantile(self, share: float) -> float:
        """The time that `share` of the rounds do not exceed, interpolated as NumPy does."""
        ordered = sorted(self.seconds)
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    def __len__(self) -> int:
        return len(self.seconds)

    def __repr__(self) -> str:
        return f"<pykern.Samples {self}>"

    def __str__(self) -> str:
        return f"{duration(self.median)} (p10 {duration(self.p10)}, p90 {duration(self.p90)}, {len(self)} rounds)"


def duration(seconds: float) -> str:
    """Three digits and a unit: ``1.25 ms``."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{digits(seconds / scale)} {unit}"
    return f"{digits(seconds / 1e-9)} ns"


def digits(number: float) -> str:
    """Three digits that count, without an exponent."""
    if number == 0:
        return "0"
    return (
        f"{number:.0f}" if abs(number) >= 100 else f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"
    )
