"""A Sphinx extension that writes the parts of the reference that come from the sources.

Comes in: the package, its tests, the command line. Goes out: files in `docs/_generated`, which the pages of
`docs/reference` include. A page is made only where its inputs have changed, and written only where its text has, so
that builds stay incremental. Read next: `inputs`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from sphinx.util import logging

from extensions import (
    api,
    commands,
    dialect,
    environment,
    errors,
    language,
    notebooks,
    passes,
    promotion,
    search_words,
    stages,
    targets,
)
from extensions.inputs import FOLDER, Record
from extensions.mlir_lexer import Lexer

LOG = logging.getLogger(__name__)
GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"
PAGES: dict[str, Callable[[], str]] = {
    "api.md": api.page,
    "commands.md": commands.page,
    "dialect.md": dialect.page,
    "environment.md": environment.page,
    "errors.md": errors.page,
    "language.md": language.supported,
    "not-in-kernels.md": language.refused,
    "math.md": language.mathematics,
    "notebooks.md": notebooks.page,
    "passes.md": passes.page,
    "promotion.md": promotion.page,
    "stages.md": stages.page,
    "targets.md": targets.page,
}
BESIDE: dict[str, Callable[[], list[Path]]] = {"notebooks.md": notebooks.files, "stages.md": stages.files}
"""Other files that pages write."""


def write(_app: object = None) -> None:
    """Write every page that is out of date."""
    FOLDER.mkdir(exist_ok=True)
    record = Record()
    for name, page in PAGES.items():
        beside = BESIDE[name]() if name in BESIDE else []
        if record.is_current(name, beside):
            continue
        started = time.perf_counter()
        text = page().rstrip() + "\n"
        file = FOLDER / name
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
        record.remember(name)
        LOG.info(f"wrote {name} in {time.perf_counter() - started:.1f} s")


def collect_explorers(_app: object) -> None:
    """After the gallery has run: the explorer's pages that its examples wrote become files of the site."""
    for page in GALLERY.glob("*.html"):
        page.replace(stages.STATIC / page.name)


def setup(app):
    app.connect("builder-inited", collect_explorers, priority=900)
    app.add_lexer("mlir", Lexer)
    app.connect("autodoc-process-signature", api.shown_signature)
    app.connect("source-read", search_words.guide_entries)
    app.connect("env-updated", search_words.keep_entries)
    app.connect("config-inited", lambda app, _config: write(app))
    return {"parallel_read_safe": True}
