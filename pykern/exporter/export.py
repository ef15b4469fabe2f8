"""`pk.export`: a kernel or an array program as files for programs without Python.

Comes in: a kernel and a call, as for `lower`. Goes out: `Exported`, and files. Read next: `forms`, `programs`,
`manifest`, `c_header`, `pykern.lowering.source` (what prints).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pykern.api.jit import ProgramBase
from pykern.api.kernel import KernelBase
from pykern.api.lowered import KEYWORDS, Lowered
from pykern.api.user_file import UnreadableFile
from pykern.data.source import is_tiled
from pykern.data.synthetic_frame import at_users_line
from pykern.data.target import parse
from pykern.derivatives import trees
from pykern.derivatives.autodiff import Autodiff
from pykern.errors import LaunchError, TargetError
from pykern.exporter.c_header import c_header
from pykern.exporter.derivative_page import derivative_page
from pykern.exporter.forms import FORMS, Form, form_of
from pykern.exporter.live_page import LivePage, live_page
from pykern.exporter.manifest import manifest, refuse_helpers
from pykern.exporter.object_files import lowered_object, object_files
from pykern.exporter.page_plan import kernel_plan, program_plan
from pykern.exporter.program_object import lowered_program_object
from pykern.exporter.programs import program_files
from pykern.launching.specs import Spec, spec
from pykern.lowering.targets import checked
from pykern.types import DType, by_numpy_name


@dataclass(frozen=True)
class Exported:
    """What was exported: the `files`, by the ends of their names, and the `paths` that were written."""

    name: str
    files: dict[str, bytes]
    paths: tuple[Path, ...] = ()
    manifest: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The first file as text. Raises UnicodeDecodeError for a binary."""
        return next(iter(self.files.values())).decode()

    def __repr__(self) -> str:
        what = ", ".join(map(str, self.paths)) or ", ".join(f"{self.name}.{ending}" for ending in self.files)
        return f"<pykern.Exported: {what}>"


@at_users_line
def export(
    kernel: Any,
    *args: Any,
    form: str,
    to: str | Path | None = None,
    target: str | None = None,
    comments: bool = False,
    page: LivePage = LivePage(),  # noqa: B008
    **keywords: Any,
) -> Exported:
    """Export a kernel, an array program, or a derivative of one, as files for programs without Python.

    ``export(k, x, y, ndrange=n, form="c", to="k.c")``: arguments are those of ``k.lower``, arrays or `pk.spec`s.
    `form` is a language (``"c"``, ``"opencl-c"``, ``"cuda"``, ``"hip"``, ``"msl"``, ``"wgsl"``) or a binary
    (``"object"``, ``"ptx"``, ``"hsaco"``, ``"spirv"``), of which a `target` such as ``"nvvm:sm_90a"`` chooses the
    chip. Products of matrices in an array program's ``"msl"`` use ``simdgroup_matrix``; with the `target`
    ``"source:msl"`` they do without, for GPUs that are not Apple's own. C comes with a header, an object file with a
    header and a pkg-config file; other binaries come with a manifest, ``<to>.json``: their arguments in order and the
    shape of a launch. `comments` puts lines of Python above what they became, in a language. Without `to` nothing is
    written.

    ``form="html"`` writes one page that runs the kernel in a browser, again and again, and draws an array; `page` says
    which, and how. It begins with the arrays that are given; in place of a `pk.spec` come zeros for what the kernel
    writes, else random numbers from 0 to 1. A reverse derivative adds to its gradients, so each run of its page begins
    with the arrays as they were; where a `pk.spec` is a result's shadow, it is ones.

    Raises `LaunchError` for what is no kernel over work-items and for forms that there are not, `TargetError` for what
    a language lacks, for kernels that print, assert or check, which need a host that reads that, and for derivatives
    with a tape, but in C and as an object.
    """
    if not isinstance(kernel, KernelBase | Autodiff | ProgramBase):
        raise LaunchError(
            f"{type(kernel).__name__} cannot be exported",
            hint="give a kernel, an array program, or pk.autodiff or pk.grad of one",
        )
    chosen = form_of(form)
    name = _target(chosen, form, target, comments)
    if isinstance(kernel, ProgramBase):
        if form == "ptx":  # also where the assembler of PTX is there
            name = str(replace(parse(name), options=(*parse(name).options, "ptx")))
        lowered = (
            lowered_program_object(kernel, args, name, keywords)
            if form == "object"
            else kernel.lower(*args, target=name, **keywords)
        )
        if form == "html":
            files, told = _live_program(kernel, lowered, args, page, keywords)
        else:
            files, told = program_files(lowered, form, chosen, "" if to is None else Path(to).stem)
        return Exported(
            lowered.source.exported_name, files, () if to is None else _write(files, Path(to)), told
        )
    own = kernel.kernel if isinstance(kernel, Autodiff) else kernel
    if is_tiled(own.captured()[0]):
        raise LaunchError(
            f"`{own.__name__}` is a tile kernel, and kernels over work-items alone are exported",
            hint="export a program (@pk.jit) that launches it, or write it with pk.index()",
        )
    told: dict[str, Any] = {}
    if form == "html":
        lowered, files, told = _live(kernel, args, name, page, keywords)
    elif form == "object":
        lowered = lowered_object(kernel, args, name, keywords)
        files = object_files(lowered, lowered.artifact.kernel if to is None else Path(to).stem)
    else:
        lowered = kernel.lower(*args, target=name, **keywords)
        files, told = _files(lowered, form, chosen)
    return Exported(lowered.artifact.kernel, files, () if to is None else _write(files, Path(to)), told)


def _live(
    kernel: Any, args: tuple[Any, ...], target: str, page: LivePage, keywords: dict[str, Any]
) -> tuple[Lowered, dict[str, bytes], dict[str, Any]]:
    """A page with the kernel in it, compiled for the lengths of the arrays."""
    adds = isinstance(kernel, Autodiff) and kernel.mode == "reverse"
    if isinstance(kernel, Autodiff):
        kernel, values, options, page = derivative_page(kernel, args, target, page, keywords)
    else:
        options = {name: keywords.pop(name) for name in KEYWORDS if name in keywords}
        values = dict(kernel.bind(args, keywords))
    lowered = kernel.lower(*map(_described, values.values()), target=target, **options)
    told = manifest(lowered, "html")
    plan = kernel_plan(lowered, values, told)
    plan.begins_anew = adds
    return lowered, {"html": live_page(lowered.source.function, plan, page).encode()}, told


def _live_program(
    program: ProgramBase, lowered: Lowered, args: tuple[Any, ...], page: LivePage, keywords: dict[str, Any]
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """A page with the program in it: its kernels as WGSL, and what their manifest says of launches."""
    files, told = program_files(lowered, "wgsl", FORMS["wgsl"], "")
    texts = {symbol: files[each["file"]].decode() for symbol, each in told["kernels"].items()}
    values = dict(program.bound(args, keywords, has_defaults=not any(program.added)))
    plan = program_plan(lowered, values, told, texts)
    return {"html": live_page(lowered.source.function, plan, page).encode()}, told


def _described(value: Any) -> Any:
    """An array as a spec of its lengths, also in a structure."""
    if not isinstance(value, Spec) and trees.parts(value) is not None:
        return trees.rebuilt(value, (_described(leaf) for _, leaf in trees.leaves(value)))
    if isinstance(value, Spec) or not getattr(value, "shape", ()):
        return value
    kind = value.dtype
    return spec(tuple(value.shape), kind if isinstance(kind, DType) else by_numpy_name(str(kind)) or kind)


def _target(form: Form, name: str, given: str | None, comments: bool) -> str:
    target = parse(form.target)
    if given is not None:
        target = checked(given)
        if form.chips not in (target.family, target.name):
            end = "" if ":" in form.chips else ":..."
            takes = f"a target {form.chips}{end}" if form.chips else "no target"
            raise TargetError(f"the form {name!r} takes {takes}, not `{given}`")
    told = ("comments",) if comments and target.family == "source" else ()
    return str(replace(target, options=tuple(dict.fromkeys((*target.options, *told)))))


def _files(lowered: Lowered, name: str, form: Form) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Contents by the ends of files' names, and the manifest of a binary."""
    refuse_helpers(lowered)
    if parse(lowered.artifact.target).family == "source":
        text = lowered.compile().source
        header = {"h": c_header(text, lowered.artifact.entry).encode()} if name == "c" else {}
        return {form.ending: text.encode(), **header}, {}
    told = manifest(lowered, name)
    # also where the assembler of PTX is there, and the binary is the chip's own
    content = lowered.as_text("ptx").encode() if name == "ptx" else lowered.compile().binary
    return {form.ending: content, f"{form.ending}.json": (json.dumps(told, indent=2) + "\n").encode()}, told


def _write(files: dict[str, bytes], to: Path) -> tuple[Path, ...]:
    """The first file is `to`; those beside it have its name and their own ends."""
    paths = []
    for number, (ending, content) in enumerate(files.items()):
        path = to if number == 0 else to.with_name(f"{to.stem}.{ending}")
        try:
            path.write_bytes(content)
        except OSError as error:
            raise UnreadableFile(
                f"`{path}` cannot be written: {error.strerror}", hint="name another file"
            ) from None
        paths.append(path)
    return tuple(paths)
