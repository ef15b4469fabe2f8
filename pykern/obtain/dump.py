"""What ``PYKERN_DUMP`` asks for: every stage of what was compiled as a file, and the explorer's page of them.

Comes in: a source and its artifact, with stages, or the error of its compilation. Goes out:
``DIR/kernel.key/NN-name.mlir`` and ``explorer.html``; of a compilation that failed the stages before it, and the error.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from pykern.data.artifact import ENDINGS, Artifact, Stage
from pykern.data.program_source import ProgramSource
from pykern.data.provided import provided
from pykern.data.source import KernelSource
from pykern.errors import KernelError


def dump(source: KernelSource | ProgramSource, artifact: Artifact, directory: Any) -> None:
    """Write the stages, and the page beside them."""
    _write(directory, artifact.kernel, artifact.key, artifact.stages, provided("page_of")(source, artifact))


def dump_failed(source: KernelSource | ProgramSource, error: KernelError, key: str, directory: Any) -> None:
    """Write the stages that a compilation reached, which is made once more for them, and the error."""
    stages, page = provided("failed_page")(error)
    _write(directory, source.function.name, key, stages, page)


def _write(directory: Any, kernel: str, key: str, stages: Sequence[Stage], page: str) -> None:
    folder = os.path.join(directory, f"{kernel}.{key[:12] or 'kernel'}")
    os.makedirs(folder, exist_ok=True)
    if page:
        with open(os.path.join(folder, "explorer.html"), "w", encoding="utf-8") as file:
            file.write(page)
    for number, stage in enumerate(stages):
        if not stage.text:  # linking leaves no text
            continue
        ending = ENDINGS.get(stage.kind, "txt")  # an error is text
        name = "".join(c if c.isalnum() or c in "-_" else "-" for c in stage.name)[:80].strip("-")
        with open(os.path.join(folder, f"{number:02}-{name}.{ending}"), "w") as file:
            file.write(stage.text)
