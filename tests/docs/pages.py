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

import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BLOCK = re.compile(
    r"(?:^<!-- (?P<comment>[^\n]*?) -->\n)?^```(?P<language>[\w{}-]*)[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMANDS = {
    "pykern": "-m pykern.tools.cli",
    "pykern-opt": "-m pykern.tools.opt",
    "pytest": "-m pytest -p pykern.pytest_plugin -p no:cacheprovider",
    "python": "",
}
"""Commands that are run by the Python at hand, whatever is on PATH."""
SHELL = {*COMMANDS, "mkdir", "echo"}
"""First words of lines that are run; others (pip, git, make) are only shown."""


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

    def __init__(
        self,
        page: Path,
        folder: Path,
        capture: Any = None,
        python: Path | str = sys.executable,
        environment: dict[str, str] | None = None,
    ) -> None:
        """Without `capture`, pytest's, the page has no blocks that run in this process. `python` runs its commands."""
        self.page, self.folder, self.capture = page, folder, capture
        self.names: dict[str, object] = {"__name__": "page"}
        self.output = ""
        self.environment = dict(os.environ if environment is None else environment)
        self._make_commands(Path(python))

    def _make_commands(self, python: Path) -> None:
        commands = self.folder / ".commands"
        commands.mkdir()
        for name, options in COMMANDS.items():
            script = commands / name
            script.write_text(f'#!/bin/sh\nexec "{python}" {options} "$@"\n')
            script.chmod(0o755)
        self.environment["PATH"] = f"{commands}{os.pathsep}{self.environment.get('PATH', '')}"

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
            words = [
                word for word in line.split() if "=" not in word.partition('"')[0]
            ]  # VARIABLE=value before a command
            if words[0] not in SHELL:
                continue
            done = subprocess.run(
                ["bash", "-c", line],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=200,
                check=False,
            )
            said = done.stdout + done.stderr
            self.output = said
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
