"""When a launch may get code that knows its numbers: limits that entries and launches share.

Read next: `pykern.launching.known_numbers`.
"""

from __future__ import annotations

FEWEST_ELEMENTS = 4096
"""Elements of an array, or work-items, of a launch that is worth a compile of its own: smaller ones are short."""
LARGEST_SMALL = 64
"""Of numbers that are worth to be known, the largest."""
LONGEST_KNOWN = 16
"""Lengths that are known when compiling, at most, of a kernel whose code exists for known lengths alone."""
LOOKED_AT = 8
"""Large launches with a small number that Python looks at, of each kind of arguments; all others run at once."""
