"""What asserts, bounds checks and prints of a launch on a device leave behind.

Comes in: a launch with sites. Goes out: memory for its report, text on standard output, and the error of the
first failure, raised by whoever waits. The report's layout is that of `pykern.data.abi`.
"""

from __future__ import annotations

import sys

import numpy as np

from pykern.capture.function_text import FunctionText
from pykern.capture.placing import placed
from pykern.data.abi import PRINT_WORDS, REPORT_CELLS, REPORT_PRINTED, REPORT_WORDS
from pykern.data.artifact import Artifact
from pykern.runtime.driver import Memory
from pykern.runtime.launch_report import failure
from pykern.runtime.registry import Opened
from pykern.runtime.stream import Stream
from pykern.runtime.text import printed


class Report:
    """What asserts, bounds checks and prints of one launch leave, read once the launch has run."""

    def __init__(self, opened: Opened, artifact: Artifact, stream: Stream, text: FunctionText) -> None:
        prints = any(site.kind == "print" for site in artifact.sites)
        self.opened, self.artifact, self.stream, self.text = opened, artifact, stream, text
        self.allocation = opened.pool.allocate(4 * (REPORT_WORDS + (PRINT_WORDS if prints else 0)))
        self.memory = self.allocation.used_on(stream.native)
        self.cells = np.zeros(REPORT_CELLS, np.int64)
        opened.driver.fill(stream.native, self.memory, 0, bytes(8), self.cells.nbytes)

    def arguments(self, offsets: bool) -> list[Memory | int]:
        return [self.memory, 0] if offsets else [self.memory]

    def ask(self) -> None:
        """Read the cells behind the launch; whoever waits next looks at them."""
        self.opened.driver.copy_out(self.stream.native, self.cells, self.memory, 0)
        self.stream._add_finisher(self.look)

    def look(self) -> None:
        """Write what was printed, raise what failed."""
        words = int(self.cells.view(np.uint32)[REPORT_PRINTED])
        if words:
            self._print(words)
        if self.cells[0]:
            error = failure(self.artifact.reported(int(self.cells[0])), self.cells)
            raise placed(error, self.text)

    def _print(self, asked: int) -> None:
        kept = np.zeros(min(asked, PRINT_WORDS), np.uint32)
        driver = self.opened.driver
        driver.copy_out(self.stream.native, kept, self.memory, 4 * REPORT_WORDS)
        driver.wait(driver.record(self.stream.native))
        at = 0
        while at < asked:
            site = self.artifact.sites[int(kept[at])] if at < kept.size else None
            size = 1 + 2 * len(site.dtypes) if site is not None else 0
            if site is None or at + size > kept.size:
                sys.stderr.write(
                    f"pykern: `{self.artifact.kernel}` printed more than is kept; the rest is lost\n"
                )
                return
            pairs = kept[at + 1 : at + size].astype(np.int64)
            values = [int(low | high << 32) for low, high in zip(pairs[::2], pairs[1::2], strict=True)]
            sys.stdout.write(printed(site, values))
            at += size
