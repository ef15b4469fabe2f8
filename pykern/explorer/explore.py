"""`pk.explore`: compile a kernel, follow every line through the stages, write a page.

Comes in: a kernel or program and arguments as for `lower`. Goes out: `Explored`, and a file. Read next: `data`.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pykern.artifact import Artifact
from pykern.compiler.service import service
from pykern.errors import KernelError
from pykern.explorer.data import Exploration, exploration
from pykern.explorer.page import page
from pykern.explorer.remarks import Remark
from pykern.lineage import Follow
from pykern.lowered import Lowered
from pykern.source import KernelSource


@dataclass(frozen=True)
class Explored:
    """An explorer page: `path` is the file, `data` what it shows."""

    path: Path
    data: Exploration

    def __repr__(self) -> str:
        return f"<pykern.explore: {self.path}>"

    def _repr_html_(self) -> str:
        """Notebooks show the page itself, in a frame that can reach nothing outside of it."""
        inside = html.escape(page(self.data), quote=True)
        frame = f'<iframe sandbox="allow-scripts" style="width:100%;height:480px;border:0" srcdoc="{inside}">'
        return f"{frame}</iframe><p>{html.escape(str(self.path))}</p>"


def explore(kernel: Any, *args: Any, to: str | Path | None = None, **keywords: Any) -> Explored:
    """Write one self-contained HTML page that shows every stage of a kernel beside its Python.

    Arguments are those of ``kernel.lower``: arrays or `pk.spec`s, ``ndrange=``, ``target=`` and so on.
    `to` is the file to write, ``<kernel>-<target>.html`` here where it is not given. The page needs no
    network. Raises the errors of `lower`.
    """
    data = look(kernel, *args, **keywords)
    path = Path(to) if to is not None else Path(f"{data.kernel}-{data.target.replace(':', '-')}.html")
    path.write_text(page(data), encoding="utf-8")
    return Explored(path, data)


def look(kernel: Any, *args: Any, **keywords: Any) -> Exploration:
    """What the explorer shows, without writing anything.

    The kernel is compiled twice: once as ever, for the times, and once with every line followed.
    """
    lowered: Lowered = kernel.lower(*args, **keywords)
    live = tuple(p for p in keywords.get("passes", ()) if not isinstance(p, str))
    traced: Artifact = service().compile(lowered.source, keep_stages=Follow(), passes=live)
    return exploration(lowered, traced, _raising(kernel, lowered, args, keywords))


def _raising(kernel: Any, lowered: Lowered, args: tuple, keywords: dict[str, Any]) -> tuple[Remark, ...]:
    """Whether the kernel is linalg on tensors as well, or the line that prevents it."""
    source = lowered.source
    if not isinstance(source, KernelSource) or source.derivatives or source.target == "linalg":
        return ()
    try:
        reason = kernel.raised(*args, **{**keywords, "passes": (), "debug": False}).reason
    except KernelError as error:
        reason = error
    if reason is None:
        return (Remark("", 0, "the kernel can be raised to linalg on tensors"),)
    span = reason.span
    place = ("", 0) if span is None else (span.file, span.line)
    return (Remark(*place, f"not raised to linalg: {reason.reason}"),)
