"""`pk.explore`: compile a kernel, follow every line through the stages, write a page.

Comes in: kernels or programs and arguments as for `lower`, or what was lowered, or an error. Goes out:
`Explored`, and a file. Read next: `following` (how it is compiled), `data`.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pykern.api.jit import Program
from pykern.api.kernel import KernelBase
from pykern.api.lowered import Lowered
from pykern.data.synthetic_frame import at_users_line
from pykern.derivatives.autodiff import Autodiff
from pykern.errors import KernelError, LaunchError
from pykern.explorer.ceilings import given
from pykern.explorer.comparison import Comparison
from pykern.explorer.data import Exploration
from pykern.explorer.emulating import is_emulated, with_accesses
from pykern.explorer.following import follow, follow_failed
from pykern.explorer.measuring import measured
from pykern.explorer.notebook import frame
from pykern.explorer.page import page
from pykern.explorer.roof import Roof
from pykern.lowering.targets import checked


@dataclass(frozen=True)
class Explored:
    """An explorer page: `path` is the file, `data` what it shows, of each kernel in turn."""

    path: Path
    data: Comparison

    @property
    def error(self) -> str:
        """Why a kernel did not compile; "" where all did."""
        return next((d.error for d in self.data.subjects if d.error), "")

    def __repr__(self) -> str:
        failed = f", which did not compile: {self.error.splitlines()[0]}" if self.error else ""
        return f"<pykern.explore: {self.path}{failed}>"

    def _repr_html_(self) -> str:
        """Notebooks show the page itself, in a frame that can reach nothing outside of it."""
        full = html.escape(self.path.resolve().as_uri(), quote=True)
        return f'{frame(self.data)}<p><a href="{full}" target="_blank">open full: {html.escape(str(self.path))}</a></p>'


@at_users_line
def explore(
    *what: Any,
    to: str | Path | None = None,
    roof: Roof | Mapping[str, float] | None = None,
    measure: bool = False,
    accesses: bool = False,
    **keywords: Any,
) -> Explored:
    """Write one self-contained HTML page that shows every stage of a kernel beside its Python.

    ``explore(k, x, y, ndrange=n)``: arguments are those of ``k.lower``, arrays or `pk.spec`s. Side by side come
    ``explore(k1, k2, x, y, ndrange=n)``, two kernels or versions of one; ``target=("llvm", "nvvm:sm_90a")``, two
    targets; and ``explore(a, b)`` of whatever was lowered or explored. ``explore(error)`` shows how far a compilation
    came that failed; a kernel that does not compile gives such a page, too.

    `to` is the file to write, ``<kernel>-<target>.html`` here where it is not given. `measure` launches the kernel
    some times on its arrays, which it changes as launches do, and puts the time into the roofline. Its ceilings are
    those of this processor, measured once and kept on disk; nominal ones of a data sheet for some GPUs; or what `roof`
    gives: ``{"GB/s": 900, "f32": 14000}``. `accesses` launches the kernel once on an emulated GPU, on copies of its
    arrays, and says at each line how its accesses fit the memory there: coalesced or not, with bank conflicts or none
    (`pk.memory_accesses`); the target is one of NVIDIA's or AMD's that is emulated. The page needs no network.
    Raises the errors of `lower` where nothing was compiled that could be shown.
    """
    data = look(*what, roof=roof, measure=measure, accesses=accesses, **keywords)
    path = Path(to) if to is not None else Path(file_name(data))
    path.write_text(page(data), encoding="utf-8")
    return Explored(path, data)


def look(
    *what: Any,
    roof: Roof | Mapping[str, float] | None = None,
    measure: bool = False,
    accesses: bool = False,
    **keywords: Any,
) -> Comparison:
    """What the explorer shows, without writing anything; see `explore`.

    Each kernel is compiled twice: once as ever, for the times, and once with every line followed.
    """
    kernels, args = _divided(what)
    if not kernels:
        return Comparison(tuple(subject for each in args for subject in _looked_at(each, keywords)))
    targets = keywords.pop("target", None)
    targets = tuple(targets) if isinstance(targets, tuple | list) else (targets,)
    targets = [
        None if target is None else str(checked(target)) for target in targets
    ]  # all, before one is compiled
    subjects = []
    for kernel in kernels:
        for target in targets:
            asked = keywords if target is None else {**keywords, "target": target}
            found = of_kernel(kernel, *args, **asked)
            found = found if found.error else replace(found, roof=given(roof, found.target))
            found = measured(found, kernel, args, asked) if measure else found
            subjects.append(with_accesses(found, kernel, args, asked) if accesses else found)
    if accesses and not any(subject.error or is_emulated(subject) for subject in subjects):
        raise LaunchError(
            f"accesses are counted on emulated GPUs, not for {subjects[0].target}",
            hint='give target="nvvm:sm_80" or target="rocdl:gfx942"',
        )
    return Comparison(tuple(subjects))


def of_kernel(kernel: Any, *args: Any, **keywords: Any) -> Exploration:
    """What there is to see of one kernel for one target."""
    try:
        lowered: Lowered = kernel.lower(*args, **keywords)
    except KernelError as error:
        return _failed(error)
    return follow(lowered)


def file_name(data: Comparison) -> str:
    """``heat-nvvm-sm_90a.html``; what differs stands in it."""
    names = dict.fromkeys(f"{d.title}-{d.target}" for d in data.subjects)
    whole = "-and-".join(names)
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in whole)[:120] + ".html"


def _divided(what: tuple[Any, ...]) -> tuple[list[Any], tuple[Any, ...]]:
    """The kernels in front, and what follows them."""
    count = 0
    while count < len(what) and isinstance(what[count], KernelBase | Program | Autodiff):
        count += 1
    return list(what[:count]), what[count:]


def _looked_at(what: Any, keywords: Mapping[str, Any]) -> tuple[Exploration, ...]:
    if keywords:
        raise LaunchError(f"`{next(iter(keywords))}=` belongs to kernels: what was lowered has its arguments")
    if isinstance(what, Explored):
        return what.data.subjects
    if isinstance(what, Comparison):
        return what.subjects
    if isinstance(what, Exploration):
        return (what,)
    if isinstance(what, Lowered):
        return (follow(what),)
    if isinstance(what, KernelError):
        return (_failed(what),)
    raise LaunchError(
        f"there is nothing to explore in {type(what).__name__}",
        hint="give a kernel with its arguments, what kernel.lower(...) gave, or a pykern error",
    )


def _failed(error: KernelError) -> Exploration:
    found = follow_failed(error)
    if found is None:
        raise error
    return found
