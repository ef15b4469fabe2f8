"""Every attribute of the name `kern.*`: what it holds, where it stands, what it says.

Other modules write ``from pykern.dialect import attributes as kern`` and use the names from here: `kern.NOALIAS` is
the attribute `kern.noalias`. Who sets and who reads each is found in the sources, and shown in the dialect's reference
page. Read next: `attribute_checks` (what refuses an attribute that is not as declared).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from mlir import ir

from pykern.data.schedule import Schedule
from pykern.dialect.attribute_forms import (
    Form,
    argument_numbers,
    array_of,
    checkpoint,
    either,
    float_type,
    integer,
    json_text,
    lengths,
    mark,
    result_numbers,
    string,
    symbol,
    table,
)
from pykern.dialect.attribute_places import (
    ANY,
    ARGUMENT,
    ATOMIC,
    BUFFER,
    FUNCTION,
    FUNCTION_BODY,
    LOOP,
    ROW,
    SHARED,
    STRUCTURED,
    TAPE_ACCESS,
    Place,
)

PREFIX = "kern."
MAX_DIMENSIONS = 8


@dataclass(frozen=True)
class Declaration:
    """An attribute: the form of its value, the ops on which it may stand, and a sentence."""

    name: str
    form: Form
    on: tuple[Place, ...]
    says: str

    def may_stand(self, op: ir.Operation | None) -> bool:
        """Whether it may stand on this op; None is an argument of a function."""
        if op is None:
            return ARGUMENT in self.on
        return any(place.fits(op) for place in self.on)

    @property
    def places(self) -> str:
        return " or ".join(place.says for place in self.on)


ATTRIBUTES: dict[str, Declaration] = {}


def _declared(name: str, form: Form, on: Place | tuple[Place, ...], says: str) -> str:
    places = on if isinstance(on, tuple) else (on,)
    ATTRIBUTES[PREFIX + name] = Declaration(PREFIX + name, form, places, says)
    return PREFIX + name


_KINDS = {"bool": ir.BoolAttr, "int": ir.IntegerAttr, "str": ir.StringAttr}
_SCHEDULE = {field.name: _KINDS[str(field.type)] for field in dataclasses.fields(Schedule)}
_TILE = dict.fromkeys(
    ("row", "lane", "width", "unroll", "prefetch", "ordered", "start", "first", "last", "reads", "clip"),
    ir.IntegerAttr,
)
_DOT = {"intrinsic": ir.StringAttr, "adds": ir.BoolAttr, "first": ir.IntegerAttr, "lifted": ir.BoolAttr}
_PAIR = array_of(ir.FlatSymbolRefAttr, "names of two functions, such as [@forward, @backward]", 2)
_RULES = array_of(ir.FlatSymbolRefAttr, "names of two functions, such as [@reverse, @forward]", 2)

# fmt: off
# Kernels and their launches.
KERNEL = _declared("kernel", mark, FUNCTION_BODY, "The function is a kernel: its body is one work-item.")
RANK = _declared("rank", integer(1, MAX_DIMENSIONS), FUNCTION,
    "The number of dimensions of the kernel's index space.")
NDRANGE = _declared("ndrange", lengths(0), FUNCTION,
    "The number of work-items in each dimension, where it is known.")
WORKGROUP = _declared("workgroup", lengths(1), FUNCTION, "The size of a workgroup in each dimension.")
LOOP_ORDER = _declared("loop_order", lengths(0), FUNCTION,
    "The dimensions that the loops over work-items run over, the outermost first; without it that of the index space.")
ITEM_ORDER = _declared("item_order", lengths(0), FUNCTION,
    "The dimensions by which a device numbers the work-items of a group, the slowest first; without it that of the "
    "index space.")
PLAIN = _declared("plain", mark, FUNCTION, "Each range of the index space starts at 0 with step 1.")
UNIT = _declared("unit", mark, FUNCTION, "Each range of the index space has step 1, whatever it starts at.")
KNOWN = _declared("known", lengths(None), FUNCTION,
    "Pairs of the number of a launch's slot (a length, a stride, an integer, a count) and what it is known to hold.")
NOALIAS = _declared("noalias", mark, FUNCTION, "No two array arguments share memory.")
NAME = _declared("name", string, ARGUMENT, "The argument's name in the user's source.")
WRITTEN = _declared("written", mark, ARGUMENT,
    "The argument counts as written whatever the body does: the kernel whose derivative this is writes it.")
CUDA = _declared("cuda", string, FUNCTION,
    "The name in the user's source of a declared function that is written in CUDA C++.")
SEQUENTIAL = _declared("sequential", mark, FUNCTION, "The work-items run in order, in one thread.")
ENDLESS = _declared("endless", mark, FUNCTION,
    "There is a loop in the kernel whose trip count is not known before it runs.")
ITEMS = _declared("items", mark, LOOP,
    "This is the innermost loop over the work-items of a kernel without workgroups.")
FEW = _declared("few", mark, LOOP,
    "This loop over work-items runs where a loop in it has few iterations; a copy runs elsewhere.")
EACH = _declared("each", mark, LOOP,
    "The loop over the work-items of a launch that one of a device does.")
ITEMS_EACH = _declared("items_each", lengths(1), FUNCTION,
    "How many work-items of a launch one of the device does, in each dimension.")
GROUP_ITEMS = _declared("group_items", mark, LOOP,
    "This is the innermost loop over the work-items of a group, up to a barrier.")
DIMENSION = _declared("dimension", integer(0, MAX_DIMENSIONS - 1), LOOP,
    "The dimension of the index space over whose blocks, or over a block of which, this loop runs.")
CONCURRENT = _declared("concurrent", mark, LOOP,
    "This is the outermost loop over work-items or groups: its iterations need nothing of each other.")
MODERATE = _declared("moderate", mark, ANY, "The angle of this sin, cos or tan is known not to be huge.")
RAISED = _declared("raised", mark, FUNCTION, "The function is a kernel that was raised to linalg on tensors.")

# Array programs.
PROGRAM = _declared("program", mark, FUNCTION_BODY, "The function is an array program.")
RESULT_TREE = _declared("result_tree", json_text, FUNCTION, "The structure of what the program returns.")
UPDATED = _declared("updated", argument_numbers(), FUNCTION,
    "The arguments whose new values are the last results, in this order.")
DONATED = _declared("donated", argument_numbers(), FUNCTION,
    "The arguments whose memory the program may use for other values.")
RESULT_ARGUMENTS = _declared("result_arguments", result_numbers, FUNCTION,
    "Per result the argument whose memory it gets, or -1; those of `kern.updated` have to get it.")
HELPER = _declared("helper", mark, FUNCTION_BODY,
    "The function is inlined at its calls once derivatives are taken.")
CUSTOM = _declared("custom", _PAIR, FUNCTION,
    "The two functions that reverse mode calls in place of this one.")
GRADIENTS = _declared("gradients", lengths(-1), FUNCTION,
    "For each argument the number of its gradient among the results of the backward function, or -1.")
RULES = _declared("rules", _RULES, FUNCTION,
    "The functions that reverse and forward mode call beside this one: of its operands, its results, and the "
    "cotangents of these or the tangents of those. Calls of this one stay until the last derivative is taken.")
LAUNCHES = _declared("launches", symbol, FUNCTION, "The function launches this one kernel.")
WRITES = _declared("writes", argument_numbers(), FUNCTION,
    "The arguments whose arrays the launched kernel writes; their new contents are the results.")
CHUNK = _declared("chunk", mark, ANY, "The fusion barrier ends a chunk of a chain that is fused on its own.")
BODY = _declared("body", integer(0), ANY,
    "A number that ops share whose bodies are the same, while cse runs.")

# Reverse mode.
CHECKPOINT = _declared("checkpoint", checkpoint, LOOP, "How reverse mode stores the states of this loop.")
TRIPS_AT_MOST = _declared("trips_at_most", integer(0), LOOP,
    "A bound of the trip count, where the count is known at run time only.")
SITE = _declared("site", integer(0), TAPE_ACCESS, "The number that a push shares with its pop.")
LAUNCH_SCOPE = _declared("launch_scope", mark, ATOMIC,
    "No other launch touches the cell: work-items of this launch alone may meet in it.")
TAPE = _declared("tape", lengths(0, 2), FUNCTION,
    "The launch provides the tape: words for each work-item (0: they are counted), and whether they are fixed.")
TAPE_STATE = _declared("tape_state", mark, BUFFER,
    "The buffer holds how many words are used, and the place of the work-item.")
TAPE_SLOTS = _declared("tape_slots", either(mark, integer(0)), (BUFFER, FUNCTION),
    "The buffer is the tape; on a kernel, the number of the argument that is.")

# Loops, buffers and products on the CPU.
NEST = _declared("nest", mark, FUNCTION,
    "The function is a loop nest of a program, over a part of its first loop.")
REPEATS = _declared("repeats", mark, FUNCTION,
    "Each part of the loop repeats work, or adds privatised sums at its end.")
ROWS = _declared("rows", mark, FUNCTION, "The loops take one row of all their arrays after the other.")
IN_VECTORS = _declared("in_vectors", mark, FUNCTION,
    "The function was written in vectors: it has no scalar loops to improve.")
STRIDED = _declared("strided", mark, FUNCTION, "There is an array of unknown strides, which may be negative.")
CACHE_BYTES = _declared("cache_bytes", mark, ARGUMENT, "The argument is the size of the cache in bytes.")
ENDS = _declared("ends", mark, LOOP,
    "The loop runs another one for its first and last iterations, which vectors leave over.")
KEPT_ROW = _declared("kept_row", mark, ROW,
    "Values wait in this row of a result which are in a scratch buffer where stores bypass the cache.")
SCHEDULE = _declared("schedule", table(_SCHEDULE, needed=tuple(_SCHEDULE)), FUNCTION,
    "The schedule of the contraction.")
NEEDED = _declared("needed", lengths(None), STRUCTURED,
    "Factors of the dimensions and a constant: cells of the result where their sum is negative are not used.")
PART = _declared("part", integer(0), STRUCTURED,
    "The contraction's number in its function: full tiles, and those at an edge.")
TILE = _declared("tile", table(_TILE, needed=("row", "lane", "width")), STRUCTURED,
    "The register tile of a contraction.")
DOT = _declared("dot", table(_DOT, needed=tuple(_DOT)), STRUCTURED,
    "The dot-product instruction that a contraction uses.")
ATTENTION = _declared("attention", either(mark, symbol), FUNCTION,
    "The function is attention on buffers, and names the function of its scores; or it is that function.")
MAPS = _declared("maps", array_of(ir.AffineMapAttr, "an array of affine maps"), FUNCTION,
    "Where attention reads queries, keys, values and what scores need, and where it writes the result.")
LENGTHS = _declared("lengths", lengths(0), FUNCTION,
    "Batches, queries, keys, depth and width of attention, where they are known.")
WEIGHTS = _declared("weights", float_type, FUNCTION,
    "The type of the floats that the program multiplies the values with, which attention may round its own to.")
FLUSHED = _declared("flushed", mark, ANY,
    "A power of e that would be subnormal may be 0: others are added that are not.")
UNSHIFTED = _declared("unshifted", mark, FUNCTION, "The scores go into exp without their maximum subtracted.")

# What the lowering of kernels tells its later passes.
REPORT = _declared("report", mark, (FUNCTION, ARGUMENT),
    "The last argument, or this one, is the address of the report.")
ARGUMENTS = _declared("arguments", array_of(ir.StringAttr, "an array of strings"), FUNCTION,
    'For each argument of a flat kernel "memory", "word" or what a tensor map says of an array.')
SHARED_BYTES = _declared("shared_bytes", integer(0), FUNCTION,
    "The static shared memory of a lowered kernel.")
AT_LAUNCH = _declared("at_launch", mark, SHARED,
    "Launches bring this shared memory, which begins at a multiple of 1024 bytes.")
LAUNCH_SHARED = _declared("launch_shared", integer(0), FUNCTION,
    "The bytes of shared memory that launches of a lowered kernel bring.")
RANGE = _declared("range", lengths(None, 2, ordered=True), ANY,
    "The least and the greatest value of the result.")
# fmt: on
