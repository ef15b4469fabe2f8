"""Run lit over a user's tests, also where no ``lit.cfg.py`` is.

Comes in: files and folders. Goes out: an `Outcome` a test. Suites with a ``lit.cfg.py`` of their own are left to
it; other files with RUN lines are run as one suite, whose configuration is made for the run and removed after it.
Read next: `pykern.testing.lit`, which sets suites up, and `pykern.testing.update`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pykern.environment.installation import install_extra

CONFIGS = ("lit.cfg.py", "lit.cfg", "lit.site.cfg.py", "lit.site.cfg")
SKIPPED = {"Output", "Inputs", "__pycache__", "node_modules", "site-packages"}

_RUN_IN_MLIR = re.compile(r"^\s*//\s*RUN:", re.MULTILINE)
_RUN_IN_PYTHON = re.compile(r"\A(?:\s*(?:#.*)?\n)*?#\s*RUN:")  # in the comments that a script begins with

CONFIG = """\
from pykern.testing import lit as pykern_lit

pykern_lit.configure(config, lit_config, {config_file!r})
config.test_exec_root = {output!r}
"""


@dataclass(frozen=True)
class Outcome:
    """What became of a test: lit's `code` (PASS, FAIL, XFAIL, UNSUPPORTED, ...), what it printed, seconds."""

    name: str
    code: str
    output: str
    seconds: float

    @property
    def failed(self) -> bool:
        return self.code in ("FAIL", "XPASS", "UNRESOLVED", "TIMEOUT")

    @property
    def not_run(self) -> bool:
        return self.code in ("UNSUPPORTED", "SKIPPED")

    @property
    def text(self) -> str:
        """What the test printed, without the marks lit puts around it."""
        return readable(self.output)


@dataclass(frozen=True)
class Found:
    """Tests to run: suites (or paths in suites) with a configuration of their own, and files without."""

    suites: tuple[Path, ...]
    files: tuple[Path, ...]

    def __bool__(self) -> bool:
        return bool(self.suites or self.files)


class LitError(RuntimeError):
    """lit is missing, or it gave up before the tests: a configuration that is wrong."""


def find(paths: Sequence[str | Path]) -> Found:
    """The lit tests at `paths`. Raises FileNotFoundError for a path that is not there."""
    suites: list[Path] = []
    files: list[Path] = []
    for path in (Path(os.path.abspath(path)) for path in paths):
        if not path.exists():
            raise FileNotFoundError(f"{path}: there is no such file or folder")
        if not path.is_file() and not path.is_dir():
            raise FileNotFoundError(f"{path}: it is a pipe or a device, no file")
        folder = path if path.is_dir() else path.parent
        if any(map(_has_config, (folder, *folder.parents))):
            suites.append(path)
        elif path.is_file():
            files.append(path)
        else:
            for below in _walk(path):
                (suites if below.is_dir() else files).append(below)
    return Found(tuple(dict.fromkeys(suites)), tuple(dict.fromkeys(files)))


def has_run_lines(path: Path) -> bool:
    """Whether a file is a lit test: MLIR with a RUN line, or a Python script that begins with one."""
    if path.suffix not in (".mlir", ".py"):
        return False
    pattern = _RUN_IN_MLIR if path.suffix == ".mlir" else _RUN_IN_PYTHON
    return pattern.search(path.read_text("utf-8", errors="replace")) is not None


def run(
    found: Found, params: Mapping[str, str] | None = None, filter: str = "", jobs: int = 0
) -> list[Outcome]:
    """Run tests; `params` are lit's ``--param``, `filter` a regular expression on names. Raises `LitError`."""
    if importlib.util.find_spec("lit") is None:
        raise LitError(f"lit is not installed: {install_extra('test')}")
    with tempfile.TemporaryDirectory(prefix="pykern-test-") as name:
        folder = Path(name).resolve()
        results = folder / "results.json"
        command = [sys.executable, "-c", "from lit.main import main; main()", "-q", "--allow-empty-runs"]
        command += [
            "--output",
            str(results),
            *[f"--param={key}={value}" for key, value in (params or {}).items()],
        ]
        command += ["--filter", filter] if filter else []
        command += ["-j", str(jobs)] if jobs else []
        paths = [*map(str, found.suites), *_made_suite(folder / "suite", found.files)]
        done = subprocess.run(
            [*command, *paths], env=_environment(), capture_output=True, text=True, check=False
        )
        if not results.exists() and done.returncode == 0:  # no test has a name that `filter` matches
            return []
        if not results.exists():
            raise LitError((done.stderr or done.stdout).strip() or f"lit ended with {done.returncode}")
        return [
            Outcome(test["name"], test["code"], test["output"], test["elapsed"] or 0.0)
            for test in json.loads(results.read_text())["tests"]
            if test["code"] != "EXCLUDED"  # by the filter
        ]


def readable(output: str) -> str:
    """lit's report of a test, with what the commands wrote as they wrote it."""
    lines: list[str] = []
    for line in output.splitlines():
        if re.match(
            r"# (?:executed command:|\.---|`---|error: command failed)|Exit Code:|Command Output|--$", line
        ):
            continue
        text = re.sub(r"^# \|(?: |$)", "", line)
        text = re.sub(r"^# RUN: at line (\d+)$", r"RUN, line \1:", text)
        if text.startswith("-dump-input=help") or (not text and not (lines and lines[-1])):
            continue
        lines.append(text)
    return "\n".join(lines).strip()


def _made_suite(folder: Path, files: Sequence[Path]) -> list[str]:
    """A suite in `folder` for tests that lie elsewhere; goes out: how lit is told of each of them."""
    if not files:
        return []
    root = Path(os.path.commonpath([path.parent for path in files]))
    folder.mkdir()
    config = CONFIG.format(config_file=str(root / "lit.cfg.py"), output=str(folder / "Output"))
    (folder / "lit.cfg.py").write_text(config)
    return [str(folder / path.relative_to(root)) for path in files]  # lit looks for them below `root`


def _walk(folder: Path) -> Iterator[Path]:
    """Suites and lit tests below `folder`, in order; a suite is given whole."""
    if _has_config(folder):
        yield folder
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name not in SKIPPED and path.name[0] != "." and not (path / "pyvenv.cfg").exists():
                yield from _walk(path)
        elif has_run_lines(path):
            yield path


def _has_config(folder: Path) -> bool:
    return any((folder / name).is_file() for name in CONFIGS)


def _environment() -> dict[str, str]:
    """This process's, in which a pykern that is not installed is found too."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
