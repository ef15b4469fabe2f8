"""`KernelSource`: all the compiler needs to know of a kernel and one kind of call, as plain data.

Comes in: nothing; `pykern.api.kernel` and `pykern.capture.functions` fill it in the user's process.
Goes out: a picklable value that crosses to the compiler, and whose hash, with the target and the
versions, is the key of the disk cache. Nothing here imports NumPy or MLIR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Union

from pykern.data.digests import digest_of
from pykern.data.launch_bounds import NO_BOUNDS, LaunchBounds
from pykern.data.records import record
from pykern.data.target import CPU, Target
from pykern.errors import nested_too_deeply


@record
class ArraySpec:
    """An array argument. `shape` holds known lengths, None where the length is taken at launch.

    It is dense, its last axis fastest, unless `strided` allows any strides, also negative. Arrays of programs may be
    dense in another order: `axes`, the fastest last, are ``(1, 0)`` for a transposed matrix.
    """

    dtype: str
    shape: tuple[int | None, ...]
    strided: bool = False
    axes: tuple[int, ...] = ()

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def order(self) -> tuple[int, ...]:
        """The axes of a dense array, the fastest last."""
        return self.axes or tuple(range(self.rank))


@record
class ScalarSpec:
    """A scalar passed at launch. dtype ``"int"`` / ``"float"`` are Python's (weak) scalars."""

    dtype: str


@dataclass(frozen=True, eq=False)
class StaticSpec:
    """A compile-time argument: the value is part of the key."""

    value: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StaticSpec) and _told(self.value) == _told(other.value)

    def __hash__(self) -> int:
        return hash(_told(self.value))


def _told(value: object) -> object:
    """What is equal where two values mean the same to the compiler: 1, 1.0 and True do not, nor do 0.0 and -0.0."""
    if isinstance(value, tuple):
        return tuple(map(_told, value))
    return type(value), repr(value) if isinstance(value, float) else value


@record
class StructSpec:
    """A named tuple, dataclass or tuple of scalars: `fields` are (name, spec); a tuple has names "0", "1", ...

    For array programs a list or a dict, too: these have a `name` that no class has.
    """

    name: str
    fields: tuple[tuple[str, ArgSpec], ...]


LIST, DICT = "[]", "{}"
"""Names of the structs that lists and dicts are."""


COMPLEX = "(complex)"
"""Name of the struct that a complex number is, of two numbers, and a complex array, of the one array of its parts."""


ArgSpec = Union[ArraySpec, ScalarSpec, StaticSpec, StructSpec]


def has_complex(spec: ArgSpec) -> bool:
    """Whether a complex number or array is passed."""
    return isinstance(spec, StructSpec) and (
        spec.name == COMPLEX or any(has_complex(inner) for _, inner in spec.fields)
    )


def leaves(spec: ArgSpec) -> Iterator[ArraySpec | ScalarSpec]:
    """What is passed for a parameter, one after the other; a static has nothing."""
    if isinstance(spec, StructSpec):
        for _, inner in spec.fields:
            yield from leaves(inner)
    elif isinstance(spec, ArraySpec | ScalarSpec):
        yield spec


@record
class Parameter:
    """A parameter of the kernel and what is passed for it in this kind of call."""

    name: str
    spec: ArgSpec
    reads: bool = True
    writes: bool = True
    """What an intent annotation allows; True where there is none."""
    converts: bool = False
    """Annotated with a scalar type: a Python number is passed as that type."""
    lengths: tuple[int | None, ...] = ()
    """What is known of an array when compiling: each launch is checked for it. Empty where nothing is."""
    annotated: bool = True
    """`lengths` are annotated, as in ``pk.f32[:, 3]``, and others an error; else those of a launch, whose code they
    choose."""


@dataclass(frozen=True, eq=False)
class Constant:
    """A captured value: bool, int, float, str, None, or a (nested) tuple of these.

    `dtype` names the type of a NumPy scalar; empty for Python's own (weak) values.
    """

    value: object
    dtype: str = ""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Constant)
            and self.dtype == other.dtype
            and _told(self.value) == _told(other.value)
        )

    def __hash__(self) -> int:
        return hash((self.dtype, _told(self.value)))


@record
class Builtin:
    """A name of the kernel language, however it was reached: ``pk.sqrt``, ``math.sqrt`` -> "sqrt"."""

    name: str


@record
class TypeName:
    """A dtype used as a value or a cast: ``pk.f16``, ``numpy.float16`` -> "f16"."""

    dtype: str


@record
class StructType:
    """A named tuple or dataclass used as a constructor: its name and field names."""

    name: str
    fields: tuple[str, ...]


@record
class Unsupported:
    """A captured object that kernels cannot use; `description` says what it is."""

    description: str


@dataclass(frozen=True, eq=False, repr=False)
class FunctionSource:
    """Source text of a kernel or `@pk.func` function, taken when it was decorated.

    `text` starts at line `first_line` of `file` and keeps the file's own columns (`indent` spaces
    stand before ``def``). `captures` maps a dotted path as written (``"pk.sin"``, ``"N"``) to what
    it meant.

    Functions that are called are a graph: one that many call is one object. So `repr`, equality and hash go by `told`,
    which each object works out once.
    """

    name: str
    file: str
    first_line: int
    text: str
    captures: tuple[tuple[str, Capture], ...] = ()
    defaults: tuple[tuple[str, Constant], ...] = ()

    @property
    def told(self) -> str:
        """Hex digest of all of it and of the functions it reaches."""
        if _TOLD not in self.__dict__:
            for function in reached(self):  # callees come first, so that no call of this goes deeper than two
                if _TOLD not in function.__dict__:
                    said = repr([getattr(function, each.name) for each in fields(function)])
                    object.__setattr__(function, _TOLD, digest_of(said, 32))
        return self.__dict__[_TOLD]

    def __repr__(self) -> str:
        return f"<FunctionSource {self.name} {self.told}>"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, FunctionSource) and self.told == other.told)

    def __hash__(self) -> int:
        return hash(self.told)


_TOLD = "_told"


def reached(*roots: object) -> list[FunctionSource]:
    """The functions that sources or captures reach, each once, behind those that it reaches itself."""
    found: dict[int, FunctionSource] = {}
    waiting = [(function, False) for function in reversed(list(_functions_of(roots)))]
    while waiting:
        function, is_after = waiting.pop()
        if is_after:
            found.setdefault(id(function), function)
        elif id(function) not in found:
            waiting.append((function, True))
            waiting += [(inner, False) for inner in _functions_of(c for _, c in function.captures)]
    return list(found.values())


def _functions_of(values: Iterable[object]) -> Iterator[FunctionSource]:
    """Those that stand in the values themselves."""
    for value in values:
        if isinstance(value, FunctionSource):
            yield value
        elif isinstance(value, CapturedCustom):
            yield from (value.function, value.forward, value.backward)
        elif isinstance(value, CapturedKernel | KernelSource | CapturedGradient):
            yield from _functions_of((value.function,))


@record
class Annotation:
    """What the annotation of a kernel's parameter says: compile-time, an intent, a dtype, the form of an array.

    `shape` is None for a scalar; in it, None where any length will do.
    """

    name: str
    static: bool = False
    dtype: str = ""
    shape: tuple[int | None, ...] | None = None
    reads: bool = True
    writes: bool = True


@record
class CapturedKernel:
    """A kernel that an array program launches; it is built for each kind of call.

    `ndrange` holds (start, step, count) for each dimension where the kernel has a static one, else None.
    """

    function: FunctionSource
    annotations: tuple[Annotation, ...]
    options: KernelOptions
    workgroup: tuple[int, ...] = ()
    ndrange: tuple[tuple[int, int, int], ...] | None = None


@record
class CapturedCustom:
    """A `@pk.custom_vjp` function, and the two that differentiate it."""

    function: FunctionSource
    forward: FunctionSource
    backward: FunctionSource


CUDA_ONLY = "CUDA C++ runs on NVIDIA GPUs alone"
INSTEAD_OF_CUDA = "launch with device='cuda', or write the function in Python with @pk.func"


@record
class CapturedCuda:
    """A function in CUDA C++: `source` defines `name`; `result` and `parameters` are as in a signature.

    `file` and `line` are where `pk.cuda_func` was called, `text_line` where the text begins there (0: unknown);
    `toolkit` are the versions of what compiles it.
    """

    name: str
    source: str
    result: str
    parameters: tuple[str, ...]
    options: tuple[str, ...] = ()
    file: str = ""
    line: int = 0
    text_line: int = 0
    toolkit: str = ""

    @property
    def symbol(self) -> str:
        """The name it is linked by."""
        told = repr((self.name, self.source, self.result, self.parameters, self.options))
        return f"pykern_cuda_{digest_of(told, 8)}"

    def __str__(self) -> str:
        return f"{self.result} {self.name}({', '.join(self.parameters)})"


@record
class CapturedGradient:
    """The gradient of a function by its parameters of these numbers: see `ProgramDerivative`."""

    function: FunctionSource | CapturedGradient
    active: tuple[int, ...]
    checkpoint: str
    aux: bool
    value: bool
    several: bool = False


Capture = Union[
    Constant, Builtin, TypeName, StructType, Unsupported, FunctionSource, CapturedKernel, CapturedCustom, CapturedCuda,
    CapturedGradient,
]  # fmt: skip


@record
class LaunchSpec:
    """What is known of the index space when compiling.

    `rank` dimensions; `plain` when every dimension starts at 0 with step 1; `ndrange` holds static
    lengths or is None; `workgroup` is () where the target may choose; `shared` when the launch sizes
    shared memory (`shared_bytes=`): the bytes are an argument, not part of the key; `unit` when every
    step is 1, and the starts are any.
    """

    rank: int
    plain: bool = True
    ndrange: tuple[int, ...] | None = None
    workgroup: tuple[int, ...] = ()
    shared: bool = False
    unit: bool = False


@record
class KernelOptions:
    """Options of ``@pk.kernel(...)`` that change the code."""

    debug: bool = False
    fastmath: bool = False
    ordered: bool = False
    """Of an array program: sums keep their order, as in kernels without `fastmath`."""
    nan: bool = False
    """Report operations that make a NaN."""
    races: bool = False
    """Run on the reference device and look for work-items that access an element without an order."""
    limited: bool = False
    """The launch may end the kernel's loops."""


@record
class Derivative:
    """A kernel is differentiated: `mode` is "reverse" or "forward", `level` "direct" or "raised".

    `active` are the numbers of the parameters that are differentiated, in the kernel before; each is
    followed by its shadow in the kernel after. `deterministic`: the same numbers in every run.
    """

    mode: str
    level: str
    active: tuple[int, ...]
    deterministic: bool = False


@record
class KernelSource:
    """A kernel, the kind of its arguments and launch, and the target: what gets compiled.

    `noalias`: no two arguments overlap (checked at launch). `passes`: names of registered user
    passes that run on the kern stage (entry points ``pykern.passes``). `derivatives` are taken in
    order, and `parameters` are those of the last.
    """

    function: FunctionSource
    parameters: tuple[Parameter, ...]
    launch: LaunchSpec
    options: KernelOptions = field(default_factory=KernelOptions)
    target: Target = CPU
    noalias: bool = True
    passes: tuple[str, ...] = ()
    derivatives: tuple[Derivative, ...] = ()
    bounds: LaunchBounds = NO_BOUNDS
    """Of a launch's compiled entry on a device: what it checks."""
    called_from_c: str = ""
    """``"function"`` or ``"loop"``: C calls the code (`pykern.lowering.llvm.c_functions`), and nothing is launched;
    ``"object"``: it is an object file (`pykern.lowering.llvm.object_functions`)."""
    known: tuple[tuple[int, int], ...] = ()
    """Slots of the launch and what they hold: the code is for launches with these numbers alone."""

    @property
    def exported_name(self) -> str:
        """The kernel's name in programs without Python, where a derivative may stand beside its kernel."""
        endings = {"reverse": "_gradient", "forward": "_tangent"}
        return self.function.name + (endings[self.derivatives[-1].mode] if self.derivatives else "")

    def primal(self) -> KernelSource:
        """The source of the kernel before the last derivative was taken."""
        *before, last = self.derivatives
        kept: list[Parameter] = []
        given = iter(self.parameters)
        for parameter in given:
            if len(kept) in last.active:
                next(given)
            kept.append(parameter)
        return replace(self, parameters=tuple(kept), derivatives=tuple(before))

    def key(self, versions: str) -> str:
        """Hex digest of everything that decides the code; `versions` names compiler and host."""
        return digest(f"{versions}\n", self, self.function.name)


def is_tiled(function: FunctionSource) -> bool:
    """Whether a kernel calls `pk.tile`, or what only such kernels call: its index is a range."""
    return any(meant in _OF_TILES for _, meant in function.captures)


_OF_TILES = tuple(map(Builtin, ("tile", "tiles", "positions")))


def digest(versions: str, source: object, name: str) -> str:
    """Hex digest of both. A source tells all of itself in its `repr`, which Python's limit of recursion holds for
    where a value is nested deeply."""
    try:
        told = repr(source)
    except RecursionError:
        raise nested_too_deeply(name) from None
    return digest_of(versions + told)


def cuda_functions(of: object) -> dict[str, CapturedCuda]:
    """The functions in CUDA C++ that a source reaches, by symbol."""
    captures = [of, *(capture for function in reached(of) for _, capture in function.captures)]
    return {capture.symbol: capture for capture in captures if isinstance(capture, CapturedCuda)}
