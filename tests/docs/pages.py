"""A page of Markdown as a program: its blocks of code are run in order, and print what the page says they print.

Blocks marked ``python`` share one namespace; ``console`` blocks run their ``$`` lines. A comment on the line before a
block says otherwise:

``<!-- shown -->``         is not run
``<!-- error -->``         Python that raises; its traceback is what it prints
``<!-- output -->``        what the block before prints: each line is there, in this order; ``…`` stands for any lines
``<!-- file: NAME -->``    is written to a file

Read next: `test_pages`.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(
    r"(?:^<!-- (?P<comment>[^\n]*?) -->\n)?^```(?P<language>[\w{}-]*)[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMANDS = {
    "pykern": ["-m", "pykern.tools.cli"],
    "pykern-opt": ["-m", "pykern.tools.opt"],
    "pytest": ["-m", "pytest", "-p", "pykern.pytest_plugin", "-p", "no:cacheprovider"],
    "python": [],
}
"""Commands that are run, as arguments of this Python; others (pip, git) are only shown."""


@dataclass(frozen=True)
class Block:
    """A block of a page, and the line it stands on."""

    language: str
    text: str
    comment: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("text")) + 1
        yield Block(found["language"], found["text"], found["comment"] or "", line)


class Runner:
    """Runs the blocks of one page in a folder; `output` is what the last one printed."""

    def __init__(self, page: Path, folder: Path, capture) -> None:
        self.page, self.folder, self.capture = page, folder, capture
        self.names: dict[str, object] = {"__name__": "page"}
        self.output = ""

    def run(self) -> int:
        """Run the page; gives how many blocks were run or compared."""
        return sum(self._block(block) for block in blocks(self.page))

    def _block(self, block: Block) -> bool:
        if block.comment == "shown":
            return False
        if block.comment.startswith("file: "):
            file = self.folder / block.comment.removeprefix("file: ")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
        elif block.comment == "output":
            expect(block.text, self.output, f"{self.page.name}:{block.line}")
        elif block.language == "python":
            self._python(block)
        elif block.language == "console":
            self._console(block)
        else:
            return False
        return True

    def _python(self, block: Block) -> None:
        file = self.folder / f"{self.page.stem.replace('-', '_')}_{block.line}.py"
        file.write_text(block.text)
        code = compile(block.text, str(file), "exec")
        self.capture.readouterr()
        if block.comment == "error":
            try:
                exec(code, self.names)
            except Exception:  # noqa: BLE001 - whatever it is, the page says what it prints
                self.output = traceback.format_exc()
                return
            raise AssertionError(f"{self.page.name}:{block.line} raises nothing")
        exec(code, self.names)
        self.output = self.capture.readouterr().out

    def _console(self, block: Block) -> None:
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            line, _, expected = part.partition("\n")
            words = shlex.split(line, comments=True)
            if words[0] not in COMMANDS:
                continue
            done = subprocess.run(
                [sys.executable, *COMMANDS[words[0]], *words[1:]],
                cwd=self.folder,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            said = done.stdout + done.stderr
            assert done.returncode == 0 or "FAILED" in expected or "rror" in expected, said
            expect(expected, said, f"{self.page.name}:{block.line}: {line}")


def expect(expected: str, output: str, where: str) -> None:
    """Each line of `expected` is in `output`, in this order. Raises AssertionError."""
    place = 0
    for line in expected.splitlines():
        for piece in filter(None, (piece.strip() for piece in line.split("…"))):
            found = output.find(piece, place)
            assert found >= 0, f"{where}: {piece!r} is not in what was printed:\n{output}"
            place = found + len(piece)
