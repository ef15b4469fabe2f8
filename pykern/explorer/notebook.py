"""What notebooks show of kernels, and of what was lowered: the page, in a frame without rights.

Comes in: a `Lowered` or a kernel. Goes out: HTML. A kernel that was launched shows what its last kind of launch
was compiled to; before that its source.
"""

from __future__ import annotations

import html
from dataclasses import replace

from pykern.api.kernel import KernelBase
from pykern.api.lowered import Lowered
from pykern.compiler.service import service
from pykern.data.artifact import Artifact, Stage
from pykern.data.program_source import ProgramSource
from pykern.data.source import KernelSource
from pykern.errors import KernelError
from pykern.explorer.ceilings import known
from pykern.explorer.comparison import Comparison
from pykern.explorer.data import FAILED
from pykern.explorer.following import follow, follow_failed
from pykern.explorer.page import page

FRAME = (
    '<iframe sandbox="allow-scripts allow-downloads" style="width:100%;height:480px;border:1px solid #8884;'
    'border-radius:6px" srcdoc="{}"></iframe>'
)


def frame(data: Comparison) -> str:
    """The page in a frame: no requests, no storage, nothing of the document around it."""
    return FRAME.format(html.escape(page(data), quote=True))


def lowered_html(lowered: Lowered) -> str:
    """A kernel or program that was lowered."""
    return frame(_shown(lowered))


def page_of(source: KernelSource | ProgramSource, artifact: Artifact) -> str:
    """The page of what a source was compiled to, with its stages, as a whole document."""
    return page(_shown(Lowered(source, artifact)))


def failed_page(error: KernelError) -> tuple[tuple[Stage, ...], str]:
    """The stages that a compilation reached and the error as the last of them, and their page; no page of no stage."""
    found = follow_failed(error)
    if found is None:
        return (Stage(type(error).__name__, str(error), 0.0, FAILED),), ""
    return found.stages, page(Comparison((found,)))


def _shown(lowered: Lowered) -> Comparison:
    found = follow(lowered)
    return Comparison((replace(found, roof=known(found.target)),))


def kernel_html(kernel: KernelBase) -> str:
    """A kernel."""
    known = kernel.launcher.cache
    launched = [*known.artifacts, *known.variants]
    if launched:
        source = launched[-1]
        return lowered_html(Lowered(source, service().compile(source, keep_stages=True)))
    name = html.escape(kernel.__name__)
    return (
        f"<pre>{html.escape(kernel.text.text)}</pre>"
        f"<p>not launched yet; <code>pk.explore({name}, …, ndrange=…)</code> shows what it becomes</p>"
    )
