"""The contract between compiled code and the runtime that loads it.

A *slot* is 8 bytes in which a launch gives its code one argument, or one number of an array or the index space. A
*cell* is a field of 8 bytes, found by its name, that an object or the runtime's table has for compiled code. A *word*
is 8 bytes of anything else, as of a plan or a tape; devices' reports have words of 32 bits.

A shared object made for the CPU exports:

``void pk_run(int64_t *slots)``
    Runs the launch. `slots` are in this order (`array_slots` counts those of an array):
    for each flattened argument, in order: an array gives its data pointer, its lengths, and, where
    the layout is "strided", its strides in *elements*; a scalar gives its bits (integers sign- or
    zero-extended, bool 0/1, f64 bits for weak floats, f32/f16/bf16 in the low bits); a static gives
    nothing. Then, where the launch sizes shared memory, its bytes. Then per ndrange dimension: the
    count, and, unless the range is plain, start and step. Then one slot: the address of a `Report`
    (only read by kernels with sites; else may be 0).
    It is called by `pk_call` of the table where that is there, and may go back to it by `longjmp`.
``int64_t pk_work(int64_t *slots)`` is there for the entry: an estimate in elementary operations.
``int32_t pk_launch(int64_t *slots)`` is there where a launch may be short: it runs those that are, with Python's lock,
    and gives `REFUSED` for long ones while the team of threads is awaited. What it gives else see `pk_call`.
``PyObject *pk_entry(PyObject *kernel, PyObject *const *args, size_t nargsf, PyObject *kwnames)``
    A vectorcall. Checks the arguments against the signature it was made for, fills the slots on its own stack and
    calls `pk_launch`. On any mismatch it goes to the next entry of the kernel object (`KERNEL_CELLS`). It is there
    where the kernel has no sites, sizes no shared memory at launch and takes arrays, scalars and static integers.
``void pk_init(void **table)``
    Takes the address of the runtime's table (`TABLE`); called once after loading.

Kernel objects carry, at the byte offset that the table's "kernel_offset" tells, the cells
`KERNEL_CELLS`. The code holds no address of the process that compiled it.
"""

from __future__ import annotations

TABLE = (
    "pk_fork", "pk_share", "pk_call", "pk_call_python",    # of the team of threads; 0 until it is loaded
    "pk_allocate", "pk_resize", "pk_release",       # the same: memory that a launch gives back that is left
    "own_code",             # int64_t *: where the code of kernels and programs lies: how many ranges, then low, high
    "team_awaited",         # 1: entries leave long launches to Python, which gets the team of threads for them
    "threads",              # threads to use, an integer, may change between launches
    "event",                # PyObject *: the completed event a CPU launch returns (a new reference is made)
    "ndrange", "stream", "workgroup",   # PyObject *: these strings, interned
    "ndarray",              # PyTypeObject *: numpy.ndarray
    "dtype.bool", "dtype.i8", "dtype.i16", "dtype.i32", "dtype.i64",
    "dtype.u8", "dtype.u16", "dtype.u32", "dtype.u64",
    "dtype.f16", "dtype.f32", "dtype.f64",   # PyArray_Descr *: NumPy's singletons
    "dtype.bf16", "dtype.f8e4m3", "dtype.f8e5m2",   # those of ml_dtypes; 0 until a kernel is given one
    "scalar.bool", "scalar.i8", "scalar.i16", "scalar.i32", "scalar.i64",
    "scalar.u8", "scalar.u16", "scalar.u32", "scalar.u64",
    "scalar.f16", "scalar.f32", "scalar.f64", "scalar.bf16",  # PyTypeObject *: numpy.float32 and its like
    "array", "array_launch",    # PyTypeObject *: pykern.Array, 0 until it is imported; bytes to its `ArrayCells`
    "stream_type", "stream_launch",     # the same for pykern.Stream and `StreamCells`
    "print",                # void (*)(int64_t site, int64_t report, int64_t *values): a callback that takes the GIL
    "kernel_offset",        # bytes from a kernel object to its cells
    "cache_bytes",          # bytes of the last-level cache; stores beyond it may stream
    "program_offset",       # bytes from an array program's object to its cells
    "out",                  # PyObject *: this string, interned
    "tuple_items",          # bytes from a tuple to its items
    "PyArray_NewFromDescr", "PyArray_Scalar",   # of NumPy's C API; 0 until an array program needs them
    "pk_take", "pk_give",   # void *(*)(int64_t bytes), void (*)(void *): kept memory; 0 until it is loaded
    "PyDataMem_SetHandler", # of NumPy's C API; 0 where results are to have NumPy's memory
    "handler", "default_handler",   # PyObject *: capsules, that of kept memory and NumPy's
    "kinds",                # PyDictObject *: `FOREIGN` of types whose objects are no NumPy arrays, and stand for one
    "missed",               # PyObject *: what the calls of `pk_adapt` go to where no entry takes them, and its result
    "__array_interface__", "mask", "data", "shape", "typestr", "strides",   # PyObject *: these strings, interned
    "asarray",              # PyObject *: called with an object whose `__array_interface__` only NumPy can read
    "_single_device_array_to_np_array_did_copy",    # PyObject *: this string, interned; a method of JAX's arrays
    "__dlpack__", "version_names", "version",   # PyObject *: the string; ("max_version",); the tuple of the version
    "__defaults__",         # PyObject *: this string, interned
    "torch.data", "torch.sizes", "torch.strides", "torch.dim", "torch.dtype",   # functions of torch's C shim, which
    "torch.storage_size", "torch.storage_offset",   # tell one fact of a tensor each; 0 until they are known
    "torch.payload",        # bytes from a tensor's object to the address of what it holds
    "torch.keys_at",        # bytes from there to its set of dispatch keys
    "torch.gradient_at",    # and to the address of what it has for differentiation, 0 where nothing ever was
    "torch.keys", "torch.inference_keys",   # the sets of a tensor on the CPU that nothing is left to be done to
    "torch.requires_grad", "torch.requires_grad_closure",   # the getter of the attribute
    "torch.forward", "torch.level",     # PyObject *: names of the module of forward mode; that of its level
    "torch.increment_version",  # PyObject *: called with a tuple of tensors
    "jax.given_arrays",     # PyObject *: the same with arrays of JAX
    "torch.given_tensors",  # PyObject *: called with a program's value, gives it with tensors for its arrays
)  # fmt: skip
"""Names of the 8-byte cells of the runtime's table, in order."""

TABLE_INDEX = {name: index for index, name in enumerate(TABLE)}

REFUSED = 2
"""What `pk_launch` gives for a launch that Python has to look at."""

ARRAY_CELLS = (
    "users",                # int64_t *: one bit for each stream that may use the memory at once; 0: it was freed
    "kind",                 # `array_kind`
    "host",                 # PyArrayObject *: what stands for it on the CPU; 0 elsewhere
    "memory",               # the driver's handle, or the address of the first element
    "offset",               # of the first element from the memory, in elements
    "low", "high",          # the bytes it covers, as addresses that tell overlap
)  # fmt: skip
"""8-byte cells of a bytes object that a `pykern.Array` holds; lengths and, where "strided", strides follow."""
STREAM_CELLS = (
    "native",               # the driver's handle
    "bit",                  # its bit in "users" of arrays; 0: launches go through Python
    "device",               # see `array_kind`
    "last",                 # PyObject *: the event of the last launch, nothing having come after it; or 0
    "settle",               # PyObject *: called where somebody keeps "last" and more work comes
    "fresh",                # PyObject *: called for an event that stands for the launch just made
)  # fmt: skip
"""8-byte cells of a stream; a bytes object of a `pykern.Stream` holds their address."""
BIND_CELLS = (
    "device", "code", "launch", "enter", "context", "flush",
    "stream",               # StreamCells *: of launches that name none
    "group_x", "group_y", "group_z", "grid_x", "grid_y", "grid_z",
    "least", "most",        # work-items of launches that the code is for
)  # fmt: skip
"""8-byte cells that a device's compiled entry is bound to: what `pykern.runtime.driver.Direct` says, the group's
size and the longest grid. Behind them is what a group covers of each dimension."""


def array_kind(
    dtype: int, rank: int, strided: bool, device: int, readonly: bool, aligned: bool, small: bool
) -> int:
    """A number that is the same for arrays that the same code takes. `dtype` and `device` are numbers too."""
    facts = readonly << READONLY_BIT | aligned << ALIGNED_BIT | small << SMALL_BIT
    return dtype | rank << 8 | strided << 16 | facts | device << DEVICE_BIT


READONLY_BIT, ALIGNED_BIT, SMALL_BIT, DEVICE_BIT = 17, 18, 19, 32
"""`ALIGNED_BIT`: it begins at a multiple of 16 bytes; `SMALL_BIT`: positions of its elements fit in 32 bits."""

ENTRIES = 8
KERNEL_CELLS = (
    "vectorcall",                                  # the first entry, or 0: Python's __call__ runs
    "slow",                                        # PyObject *: called with the same arguments when no entry fits
    "guards",                                      # int64_t *: [n, (where, PyObject *key, *value) * n], or 0
    *(f"entry{i}" for i in range(ENTRIES + 1)),    # entries in the order to try; the last cell is always 0
    *(f"writes{i}" for i in range(ENTRIES)),       # of each: bit n, argument n is written; and `WRITES_FLAGS`
    "python",                                      # PyObject *: Python's way, where "slow" is `pk_adapt`
    "names",                                       # PyTupleObject *: parameters that keywords give; or 0: as they are
    "function",                                    # PyObject *: whose defaults parameters have that are left out; or 0
    "program",                                     # 1: of an array program
)  # fmt: skip
"""8-byte cells at the end of a kernel object. `where` of a guard is a dict; 1, and the key is a closure's cell; or an
object whose attribute is the key, its address made odd. A value of 0: nothing is there."""

WRITES_FLAGS = {"hands_out": 62, "nested": 61}
"""Bits of "writes": a program gives arrays of its arguments back, or results within more than a tuple."""
ADAPTED = 60
"""Arguments of a call that `pk_adapt` takes, at most."""
FOREIGN = {"subclass": 1, "tensor": 2, "buffer": 4, "jax": 8, "dlpack": 16, "interface": 32, "readonly": 64}
"""Bits: how the memory of an object is found, tried in this order; whether it is never written."""
DLPACK_KINDS, DLPACK_NAMES = {"i": 0, "u": 1, "f": 2, "b": 6}, {"bf16": 4, "f8e4m3": 10, "f8e5m2": 12}


def dlpack_code(kind: str, name: str) -> int:
    """DLDataTypeCode of a dtype's kind, unless its name has one of its own."""
    return DLPACK_NAMES.get(name, DLPACK_KINDS[kind])


TORCH_DTYPES = {
    "u8": 0, "i8": 1, "i16": 2, "i32": 3, "i64": 4, "f16": 5, "f32": 6, "f64": 7, "bool": 11, "bf16": 15,
    "f8e5m2": 23, "f8e4m3": 24, "u16": 27, "u32": 28, "u64": 29,
}  # fmt: skip
"""What PyTorch's C shim says of dtypes (c10::ScalarType)."""

# -- array programs -----------------------------------------------------------------------------
#
# All of them share one compiled entry; what it checks and makes is data. Their objects carry `KERNEL_CELLS` too,
# but "entry0" and so on are tuples whose first item is a bytes object of the words below: `PLAN_WORDS`, then
# the records of the arguments, each beginning with its length in words, those of the results, the steps that put
# the returned value together (three words each), and the names of the keywords (PyObject *, interned).

PLAN_WORDS = (
    "run",                  # `pk_run` of the program
    "long",                 # 1: other threads of Python run meanwhile
    "pool",                 # PyListObject *: arrays that are free to be scratch memory; 0: none is needed
    "scratch",              # bytes of it where it is to be kept memory, and "pool" is for want of that; else 0
    "positional", "keywords",   # arguments of a call, without names and with names other than `out`
    "arguments",            # records of arguments
    "writers",              # arrays among the arguments that the program writes
    "results",              # arrays that a call makes
    "large",                # 1: kept memory for them
    "held",                 # 1: arrays come out of what others may change meanwhile, and are held
    "given",                # those that `out` brings: all of them, or 0, where it has to go through Python
    "steps",                # to put the returned value together
    "results_at", "steps_at", "names_at",   # words before those sections
)  # fmt: skip
ARGUMENT_KINDS = {
    "array": 0,             # flags it must have, whether it is written, descr, rank, bytes, lengths
    "payload": 1,           # PyTypeObject *, unused high bits, whether signed: what stands behind the object's head
    "narrowed": 2,          # a float, to be an f32
    "int": 3,
    "bool": 4,
    "same": 5,              # PyObject * that it has to be
    "equal": 6,             # an int, and its value
    "tuple": 7,             # PyTypeObject *, count; its items become objects behind those that are known
    "default": 8,           # the slot of a parameter that is left out; the object is any
    "list": 9,              # count; as of a tuple
    "dict": 10,             # count, the keys in their order (PyObject *, strings); as of a tuple
    "fields": 11,           # PyTypeObject *, count, names (PyObject *, interned) of what an object holds; as of a tuple
}  # fmt: skip
"""Records of arguments: length in words, kind, number of the object, then these words. Objects are the arguments
without names, then those with names, in the order of the call."""
RESULT_WORDS = ("length", "number", "descr", "rank", "bytes")
"""Records of results, before their lengths; where "number" is 1 no array is made but for `out`."""
STEP_KINDS = {
    "argument": 0,          # number of the flattened argument: its array
    "result": 1,            # number of the result: its array
    "float": 2,             # the same, and of the next three: what stands in it
    "int": 3,
    "bool": 4,
    "scalar": 5,            # PyArray_Descr * of a NumPy scalar
    "object": 6,            # PyObject *
    "tuple": 7,             # count: of so many values, those that were made last
    "call": 8,              # count, PyObject *: what it makes of them
}  # fmt: skip
"""Steps: kind, and two words; each leaves one value, the last of all is the returned one."""
DENSE, TRANSPOSED, WRITEABLE = 0x101, 0x102, 0x400
"""NumPy's flags C_CONTIGUOUS and ALIGNED; F_CONTIGUOUS and ALIGNED; and WRITEABLE."""
PLAN_ROOM = 256
"""Objects, flattened arguments, results and steps of a call, of each at most so many."""

# -- kept memory ----------------------------------------------------------------------------------
#
# One shared object for all of a process gives large blocks out and keeps what comes back. `pk_state` gives its words,
# behind which the blocks that are free stand, three words each: address, bytes, milliseconds when they came back.

KEPT_FUNCTIONS = (
    "pk_state",             # int64_t *(void)
    "pk_take", "pk_give",   # as in the table
    "pk_malloc", "pk_calloc", "pk_realloc", "pk_free",  # those of NumPy's PyDataMemAllocator
    "pk_empty",             # void (void): gives back what is free
    "pk_forked",            # void (void): called in a child of a fork
)  # fmt: skip
KEPT_STATE = (
    "lock",                 # 1: a thread is inside
    "limit",                # bytes that may be kept
    "milliseconds",         # after which a block that nobody took goes
    "huge",                 # 1: the system has huge pages
    "page",                 # bytes of an ordinary one
    "kept", "blocks",       # bytes that are free, in how many blocks
    "allocated", "peak", "reserved", "allocations", "reused", "live",   # as in `pykern.runtime.pool.MemoryStats`
)  # fmt: skip
KEPT_BLOCKS = 256
"""As many may be free at a time."""
KEPT_LEAST = 1 << 20
"""Smaller pieces of memory are malloc's, which keeps them itself."""

# -- the team of threads --------------------------------------------------------------------------
#
# One image for all of a process shares launches among threads: `pykern.lowering.llvm.team`. `pk_state` gives its
# facts.

TEAM_FUNCTIONS = (
    "pk_init",              # void (void **table)
    "pk_state",             # int64_t *(void)
    "pk_fork",              # void (void (*fn)(void *data, int64_t low, int64_t high), data, extent, team, parts)
    "pk_share",             # void (fn, data, extent, int64_t *seen): it chooses the parts by how long they took
    "pk_call",              # int32_t (void (*run)(int64_t *), int64_t *slots): without Python's lock, with signals
    "pk_call_python",       # void (void (*fn)(int64_t, int64_t, int64_t *), ...): calls Python from within a launch
    "pk_allocate",          # void *(int64_t bytes): where there is no memory it ends the launch with a MemoryError
    "pk_resize",            # void *(void *, int64_t bytes): the same; of null it is new
    "pk_release",           # void (void *)
    "pk_stop",              # void (void): a callback of `pk_call_python` keeps an exception: then the launch ends
    "pk_forked",            # void (void): called in a child of a fork
)  # fmt: skip
"""`fn` is called for all of `0..extent` in parts. `pk_call` gives 1 where a signal handler raised
or there was no memory: an exception is set, and the launch was left where it was. The others go there, too, and do not
return then; and so does the code that is in "own_code", at any instruction."""

REPORT_CELLS = 16
STOP_CELL = REPORT_CELLS - 2
"""The cell of a `Report` that the host makes 1 when the time of a launch is over."""
"""`Report`, int64 cells: [0] 0 or, set once by the first failure, site number + 1; [1] rank;
[2 ..] the failing index (one cell a dimension), then the shape; the rest is free."""


def array_slots(rank: int, strided: bool) -> int:
    """Slots that an array argument takes."""
    return 1 + rank * (2 if strided else 1)


# -- device code --------------------------------------------------------------------------------
#
# A kernel for a GPU-like device takes, in this order:
#   for each flattened argument: an array gives its memory, where the target addresses memory by handles
#   (`DeviceCode.offsets`: OpenCL, Vulkan) the position of its first element in it, in elements, its
#   lengths, and, where the layout is "strided", its strides in elements; a scalar its bits, as in a
#   slot; a static nothing;
#   where the launch sizes shared memory, its bytes;
#   where the launch brings a tape (`DeviceCode.tape`): its memory as an array of i64 with two lengths, words a
#   work-item and work-items; the number of the work-item that is the first in it; and, where words are
#   counted, an array of one i32, which begins as 0 and is the most words needed where they do not fit;
#   per ndrange dimension the count and, unless the range is plain, start and step;
#   per grid axis (x, y, z as far as used) the number of the first group;
#   where the kernel has sites, the memory of the report (and its offset, 0).
# Memory is one argument, everything else a slot, of which code may take the first 4 bytes alone, where its target
# says that they tell all (`small`). The driver is told the bytes of shared memory besides.

GRID_AXES = 3
SMALL_STEP = 1 << 11
SMALL_COUNT = (1 << 31) - SMALL_STEP
"""Work-items of a dimension, or elements of an array, whose numbers fit in 31 bits together with what is counted
beyond them, up to `SMALL_STEP`: a partial last group, or the step with which a loop ends."""
MANY_ITEMS = 1 << 21
"""Work-items of a launch from which one of a GPU does several: those that are left still fill a large GPU twice."""
MOST_COUNT = (1 << 63) - 1
"""The greatest number of a slot."""
WHOLE_COUNT = 65535
"""Groups along an axis that every device takes in one grid."""


def grid_axes(rank: int) -> int:
    """Axes of the grid that a launch of `rank` dimensions uses; the last dimension is axis 0 (x)."""
    return min(rank, GRID_AXES)


REPORT_WORDS = 2 * REPORT_CELLS
"""32-bit words at the start of a device's report: the cells of a `Report`, low word first."""
REPORT_FAILURES, REPORT_PRINTED = REPORT_WORDS - 2, REPORT_WORDS - 4
"""Words that count: failures so far, words that prints asked for."""
PRINT_WORDS = 1 << 18
"""Words of the room for prints, there only where the kernel prints. A print is its site's number (one word),
then two words a value; prints that began beyond the end are lost, and counted."""
