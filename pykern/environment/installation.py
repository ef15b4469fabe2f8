"""The commands that install what is missing, and whether another project's files lie where pykern's should.

Comes in: what the installed distribution says that it needs (`Requires-Dist`). Goes out: commands for errors and for
``pykern devices``. They name the packages themselves: on the package index `pykern` is another project, which would be
installed over this one.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from pykern.environment.bootstrap import package_root

if TYPE_CHECKING:
    from pykern.errors import TargetError

DISTRIBUTION = "pykern-mlir"
OTHERS = "pkcli"
"""A folder of the other project, which has a package `pykern` as well; `pykern/__init__.py` looks for it too."""
_IS = r"""\b{}\s*==\s*["']([\w.-]+)["']"""
_NAME = r"[\w.-]+"


def install_extra(extra: str, *only: str) -> str:
    """The command that installs the packages of an extra, or only these of them."""
    listed = _requirements(extra)
    return _command(_chosen(listed, only)) if listed else f'pip install "{package_root()}[{extra}]"'


def install_needed(*only: str) -> str:
    """The command that installs these of the packages that pykern always needs, in the versions it takes."""
    listed = _requirements("")
    return _command(_chosen(listed, only)) if listed else f'pip install "{package_root()}"'


def no_plots(error: ModuleNotFoundError) -> str:
    """What a benchmark says where it cannot draw."""
    return f"no plots: {error.name} is not installed ({install_extra('bench')})"


def _requirements(extra: str) -> list[str]:
    """What an extra brings to this system, `""` what everybody needs; nothing where pykern runs from sources that
    nobody has installed."""
    import importlib.metadata  # here: 20 ms that only those wait for whom something is missing

    try:
        lines = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    found = []
    for line in lines:
        requirement, _, marker = line.partition(";")
        of, system = (re.search(_IS.format(name), marker) for name in ("extra", "sys_platform"))
        if (of[1] if of else "") == extra and (system is None or system[1] == sys.platform):
            found.append(requirement.strip())
    return found


def _chosen(listed: list[str], only: tuple[str, ...]) -> list[str]:
    """Those of these names, or all. A name that is not among them stands for itself."""
    known = {match[0]: line for line in listed if (match := re.match(_NAME, line))}
    return [known.get(name, name) for name in only or known]


def _command(packages: list[str]) -> str:
    """Quoted for every shell where it has to be."""
    return " ".join(["pip install", *(p if re.fullmatch(_NAME, p) else f'"{p}"' for p in packages)])


def no_amd_backend(target: str) -> TargetError:
    """The error of who wants machine code for AMD's GPUs where nothing makes it."""
    from pykern.errors import TargetError

    return TargetError(
        f"`{target}`: llvmlite makes machine code for AMD's GPUs, and it is not installed",
        hint=install_extra("rocm", "llvmlite"),
    )


def other_project() -> str:
    """What is wrong where another project called `pykern` is installed too, here or elsewhere on the way of imports;
    "" where none is."""
    for folder in dict.fromkeys((package_root(), *(entry for entry in sys.path if isinstance(entry, str)))):
        place = os.path.join(folder, "pykern")
        if os.path.exists(os.path.join(place, OTHERS)):
            return (
                f"{place} has files of another project called `pykern`, and the two overwrite each other: "
                f"`pip uninstall pykern`, then install {DISTRIBUTION} anew"
            )
    return ""


def warn_of_other_project() -> None:
    """For `import pykern`, where it found such files: what is imported may be neither project."""
    import warnings

    warnings.warn(other_project(), RuntimeWarning, stacklevel=3)
