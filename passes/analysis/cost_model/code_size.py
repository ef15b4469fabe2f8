"""How much code is looked at and written: these bound the time of a compile."""

from __future__ import annotations

SHORT_ROW_OPS = 120
"""Operations of a loop that gets a version for short rows, at most: longer ones do not wait for loads."""
VERSIONED_ROW_OPS = 48
"""Operations of a work-item that gets a version for rows of three, at most: norms of points have fewer, and operations
on long rows more, of which short ones are rare."""
CHAIN_CHUNK = 16
"""Operations of a chunk that a long chain of elementwise operations is cut into."""
SIBLING_OPS = 400
"""Operations of a function whose siblings are joined, at most: each pair is looked at."""
SMALL_LOOP_FACTOR = 64
"""How many times larger another loop is where one is compiled for size: without vectors it takes up to 8 times as
long, an eighth of the large one's time."""
FOLLOWED_READERS = 16
"""Operations behind a value that are looked at for one that goes over columns."""
REPEATED_CHEAP_OPS = 2
"""Operations on elements that each reader of a value does for itself, rather than to read what another loop wrote."""
REPEATED_OPS = 12
"""Operations that may be repeated behind a barrier rather than kept in memory."""
FEWEST_ALIKE = 64
"""Operations of one name from which their bodies are told apart before they are compared."""
COMPARED_OPS = 64
"""Operations of a body that are looked at to tell it apart."""
BOUNDED_ACCESSES = 64
"""Accesses of a kernel whose bounds are checked at launch, the first ones."""
BOUND_DEPTH = 32
"""Operations between an argument and the bound of a loop; longer chains are taken for data."""
MOST_REMARKS = 500
"""Remarks that are kept of a compile: more nobody reads, and they would fill the cache."""
CHAIN_RUN = 128
"""Elementwise operations over one shape from which all of them are joined at once: chunks would copy them again."""
VERSIONED_OPS = 400
"""Operations of a loop that is written twice, at most."""
UNROLLED_OPS = 1500
"""Operations that unrolling the loops over a private array may leave."""
UNROLLED_INDEX_OPS = 400
"""Operations that unrolling loops for the sake of their indices may leave of a work-item."""
FEWEST_ACCESSES = 64
"""Loads and stores of a kernel from which repeated ones are removed early: fewer are left to later passes."""
