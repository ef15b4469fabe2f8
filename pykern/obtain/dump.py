"""What ``PYKERN_DUMP`` asks for: every stage of what was compiled as a file, and the explorer's page of them.

Comes in: a source and its artifact, with stages. Goes out: ``DIR/kernel.key/NN-name.mlir`` and ``explorer.html``.
"""

from __future__ import annotations

import os
from typing import Any

from pykern.data.artifact import ENDINGS, Artifact
from pykern.data.program_source import ProgramSource
from pykern.data.provided import provided
from pykern.data.source import KernelSource


def dump(source: KernelSource | ProgramSource, artifact: Artifact, directory: Any) -> None:
    """Write the stages, and the page beside them."""
    folder = _stages(artifact, directory)
    with open(os.path.join(folder, "explorer.html"), "w", encoding="utf-8") as file:
        file.write(provided("page_of")(source, artifact))


def _stages(artifact: Artifact, directory: Any) -> str:
    """Write every stage. Gives the folder."""
    folder = os.path.join(directory, f"{artifact.kernel}.{artifact.key[:12] or 'kernel'}")
    os.makedirs(folder, exist_ok=True)
    for number, stage in enumerate(artifact.stages):
        if not stage.text:  # linking leaves no text
            continue
        ending = ENDINGS[stage.kind]
        name = "".join(c if c.isalnum() or c in "-_" else "-" for c in stage.name)[:80].strip("-")
        with open(os.path.join(folder, f"{number:02}-{name}.{ending}"), "w") as file:
            file.write(stage.text)
    return folder
