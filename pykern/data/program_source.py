"""`ProgramSource`: all the compiler needs to know of an array program and one kind of call, as plain data.

Comes in: nothing; the front door of ``@pk.jit`` fills it in the user's process, the function captured with
``function_source(..., program=True)``. Goes out: a picklable value that crosses to the compiler; its hash,
with the target and the versions, is the key of the disk cache. Read next: `pykern.frontend.program`.
"""

from __future__ import annotations

from dataclasses import field, replace

from pykern.data.records import record
from pykern.data.source import FunctionSource, KernelOptions, KernelSource, Parameter, digest
from pykern.data.target import CPU, Target
from pykern.data.tiles import TileLaunch


@record
class ProgramDerivative:
    """A program is differentiated by the parameters `active`, numbers of the program before.

    `kind` says what it becomes: "gradient" gives its value (one float, the first result where `aux`) and
    the gradient; "vjp" takes cotangents of its float results behind its parameters and gives those of the
    active ones; its halves are "residuals", the program, which also gives what is needed later, and "pullback", which
    takes cotangents and residuals; "jvp" takes tangents of the active ones and gives results and tangents of the
    float ones.
    `checkpoint` is what loops keep: "all", "every(k)" or "binomial(s)". `value`: a "gradient" gives the value, too.
    `borrowed`: "residuals" gives no copies of arguments and results, but says which they are.
    `several`: the derivatives by one parameter are a tuple of one, as those by two are a tuple of two.
    """

    kind: str
    active: tuple[int, ...]
    checkpoint: str = "all"
    aux: bool = False
    value: bool = True
    several: bool = False
    borrowed: bool = False


_ENDINGS = {
    "gradient": "gradient", "vjp": "cotangents", "residuals": "forward", "pullback": "pullback", "jvp": "tangent",
}  # fmt: skip
"""What stands behind the name of a program that is a derivative."""


@record
class KernelLaunch:
    """A program that is one launch of a kernel on whole arrays, or the gradient of one.

    Lengths are known. The `source` of a gradient has shadows among its parameters, and one derivative. `space` is
    (start, step, count) for each dimension.
    """

    source: KernelSource
    space: tuple[tuple[int, int, int], ...]


@record
class ProgramSource:
    """An array program with what is passed for its parameters.

    Arrays are `ArraySpec`s of known lengths, dense in some order; Python and NumPy scalars `ScalarSpec`s (values
    of the run-time); `pk.static` values, strings, None and tuples of these `StaticSpec`s.
    """

    function: FunctionSource
    parameters: tuple[Parameter, ...]
    options: KernelOptions = field(default_factory=KernelOptions)
    target: Target = CPU
    donated: tuple[str, ...] = ()
    """Parameters whose arrays the program may use as its own memory."""
    derivatives: tuple[ProgramDerivative, ...] = ()
    """Taken in order; `parameters` are those of the last, which adds its own behind those before."""
    added: tuple[int, ...] = ()
    """How many parameters each derivative adds."""
    kernel: KernelLaunch | None = None
    """In place of the function: the program is this launch, or its gradient."""
    pulled: tuple[Parameter, ...] | None = None
    """Of a "pullback": the parameters of the program whose residuals it takes. `parameters` are the cotangents and
    the residuals."""
    schedules: tuple[str, ...] = ()
    """Of its contractions, in order, as text (`pykern.data.schedule`); empty or missing: the cost model's."""
    tiles: TileLaunch | None = None
    """The function is a tile kernel, launched over this."""
    handler: str = ""
    """Who else calls the code: "xla" adds `pk_xla`, the function by which XLA does; "c": the code is an object file
    for programs without pykern (`pykern.lowering.llvm.program.object_functions`)."""

    @property
    def exported_name(self) -> str:
        """The program's name in programs without Python, where a derivative may stand beside its program."""
        if self.kernel is not None:
            return self.kernel.source.exported_name
        return self.function.name + (f"_{_ENDINGS[self.derivatives[-1].kind]}" if self.derivatives else "")

    def key(self, versions: str) -> str:
        """Hex digest of everything that decides the code; `versions` names compiler and host."""
        return digest(f"{versions}\n", self, self.function.name)

    def residuals_source(self) -> ProgramSource:
        """Of a "pullback": the program whose residuals it takes. Any other source is its own."""
        if self.pulled is None:
            return self
        *before, last = self.derivatives
        first = (*before, replace(last, kind="residuals"))
        return replace(self, parameters=self.pulled, derivatives=first, pulled=None)

    def pullback_name(self) -> str:
        """Tells pullbacks of one program apart: wherever it runs, and however its products are scheduled."""
        return replace(self, target=CPU, donated=(), schedules=()).key("pullback")
