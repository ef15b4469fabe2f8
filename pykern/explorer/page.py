"""The explorer's page: one HTML file with its data, style and script inside.

Comes in: an `Exploration`. Goes out: HTML text that asks for nothing but itself. The data is JSON,
deflated and in base64, so that no text of a user can end a script; all else that is the user's is
escaped. The parts are `page.html`, `page.css` and `page.js`, plain files of this package.
"""

from __future__ import annotations

import base64
import html
import json
import string
import zlib
from importlib import resources

from pykern.explorer.data import Exploration


def page(data: Exploration) -> str:
    """The page as text."""
    return string.Template(_part("page.html")).substitute(
        title=html.escape(f"{data.kernel} — {data.target}"),
        style=_part("page.css"),
        script=_part("page.js"),
        data=packed(data),
        plain=_without_script(data),
    )


def packed(data: Exploration) -> str:
    """The data as the page holds it: JSON, deflate without a header, base64."""
    text = json.dumps(data.as_json(), separators=(",", ":"), ensure_ascii=False)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(text.encode()) + packer.flush()).decode("ascii")


def _without_script(data: Exploration) -> str:
    """What a browser that runs no scripts shows: the source and the last stage."""
    texts = ["\n".join(s.lines) for s in data.sources] + [s.text for s in data.stages[-1:]]
    return "".join(f"<pre>{html.escape(text)}</pre>" for text in texts)


def _part(name: str) -> str:
    return resources.files("pykern.explorer").joinpath(name).read_text(encoding="utf-8")
