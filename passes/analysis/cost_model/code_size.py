"""How much code is looked at and written: these bound the time of a compile."""

from __future__ import annotations

SHORT_ROW_OPS = 120
"""Operations of a loop that gets a version for short rows, at most: longer ones do not wait for loads."""
VERSIONED_ROW_OPS = 48
"""Operations of a work-item that gets a version for rows of three, at most: norms of points have fewer, and operations
on long rows more, of which short ones are rare."""
FORMS_OF_A_KERNEL = 4
"""Kinds of launches of one kernel, by their integers, whose raised forms are looked for: a step number is another one
in each launch."""
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
FEW_OPTIMISATIONS_OPS = 4000
"""Operations from which a kernel is made with few optimisations: the time of others grows with the number's square."""
FEWEST_THREAD_LINES = 120
"""Lines of LLVM IR in a part from which a thread is worth starting."""
MANY_SELECTS = 300
"""With more scalar selects in a module, the SLP vectoriser finds nothing, in a time that grows with their square."""
MOST_HOISTED_NUMBERS = 128
"""How many numbers code generation may hold ready in front of a loop: four times as many as there are registers."""
LONG_LOOP_OPS = 192
"""Operations in all copies of a loop over Python's `range` from which it stays one loop. A function that is called
counts as `CALL_OPS`."""
CALL_OPS = 16
"""What a call of a function counts as, before it is translated."""
BRANCH_OPS = 16
"""What a branch counts as that data decide: bufferization follows the arrays of each copy through both sides of all
copies behind it."""
FEWEST_COPIES = 16
"""Iterations from which such a loop may stay; half of them where copies would have `DECIDING_LOOP_OPS` operations."""
DECIDING_LOOP_OPS = 1024
"""Operations in all copies of such a loop from which its number may decide a branch: copies have one of its sides
each."""
MOST_COPIES = 4096
"""Copies of a loop's body, or of the expression of a comprehension, at most."""
UNASKED_COPIES = 64
"""Copies of a loop's body where the loop indexes a tuple and is not asked to be copied, at most."""
MOST_CALLS = 20_000
"""Calls of functions in one kernel or program, at most. The compiler takes some seconds for them, and what comes after
them takes minutes."""
FIRST_COUNT = 1000
"""Calls after which it is looked how many more there will be, so that nobody waits until there are too many."""
HOPELESS_CALLS = 1_000_000
"""Further calls that one call stands for from which it is refused at once."""
DIFFERENCE_DEPTH = 40
"""Operations one above the other that are looked through for the difference of two lengths."""
NAMED_TEXT = 24
"""Characters of printed source from which an expression that the user named gets its name in the text as well."""
LONG_TEXT = 100
"""Characters of a printed NumPy expression from which it gets a name."""
WRITTEN_OUT_TERMS = 64
"""Iterations of a reduction that are printed as lines of NumPy, at most."""
PRINTED_ELEMENTS = 256
"""Elements of a table of constants that is printed as source, at most."""
CHAIN_STEPS = 24
"""Operations of a chain of arithmetic in a loop, after which a multiplication and an addition are named as one: LLVM's
vectoriser does not look behind that, and its time grows with the square of a chain."""
FEWEST_CHAIN_OPS = 200
"""Operations of a loop from which its chains are cut so: over shorter ones LLVM does not take long."""
LLVM_UNROLLED = 16
"""Iterations of an inner loop up to which LLVM may unroll the loop around it as well."""
PLACE_TERMS = 200
"""Numbers that the place of an element is made of, looked at to see how it moves; of more it is taken for data."""
INNER_TEXT = 72
"""Characters of a printed expression of C up to which another one holds it, in functions written out."""
ANGLE_OPS = 16
"""Operations by which the angles of a loop are computed that are done twice in printed C, at most."""
TESTED_TOGETHER = 64
"""Numbers that extremes are made of and that are tested for NaN together, at most: each extreme is told all of them."""
RAISED_OPERATIONS = 24
"""Operations on arrays that a kernel becomes in a program, at most: each pair of them is looked at for fusion, and a
kernel that is so many goes through memory less often as it is."""
MOST_BOXES = 9
"""Boxes that an operation on tensors put together from parts is cut into, at most: a matrix with its four edges and
corners."""
BOX_OPS = 400
"""Operations of elements in all boxes of such an operation, at most."""
MOST_LINEAR_RANGES = 8
"""Ranges of a loop in each of which an index is a linear function of it, at most: edges on both sides need three."""
ASSEMBLED_DEPTH = 24
"""Slices, one behind the other, that are looked through for the parts of a tensor, at most."""
