"""The explorer's page: one HTML file with its data, style and scripts inside.

Comes in: a `Comparison`. Goes out: HTML text that asks for nothing but itself. The data is JSON,
deflated and in base64, so that no text of a user can end a script; all else that is the user's is
escaped. The parts are plain files of `pykern.explorer.web`.
"""

from __future__ import annotations

import base64
import html
import json
import string
import zlib
from importlib import resources

from pykern.explorer import packing
from pykern.explorer.comparison import Comparison

SCRIPTS = (
    "base", "lineage", "colours", "edits", "parts", "rows", "loops", "pane", "picking", "switch", "head", "search",
    "drawer", "charts", "memory", "keys", "start",
)  # fmt: skip
"""In order: each uses what stands before it."""


def page(data: Comparison) -> str:
    """The page as text."""
    return string.Template(_part("page.html")).substitute(
        title=html.escape(data.title),
        style=_part("page.css"),
        script="\n".join(
            ["(async () => {", '"use strict";', *(_part(f"{name}.js") for name in SCRIPTS), "})();"]
        ),
        data=packed(data),
        plain=_without_script(data),
    )


def packed(data: Comparison) -> str:
    """The data as the page holds it: JSON, deflate without a header, base64."""
    text = json.dumps(packing.packed(data), separators=(",", ":"), ensure_ascii=False)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(text.encode("utf-8", "replace")) + packer.flush()).decode("ascii")


def _without_script(data: Comparison) -> str:
    """What a browser that runs no scripts shows: the sources and the last stages."""
    texts = [
        text
        for d in data.subjects
        for text in (*("\n".join(s.lines) for s in d.sources), *(s.text for s in d.stages[-1:]))
    ]
    return "".join(f"<pre>{html.escape(text)}</pre>" for text in texts)


def _part(name: str) -> str:
    return resources.files("pykern.explorer.web").joinpath(name).read_text(encoding="utf-8")
