"""pyproject.toml says what is so: extras that messages name exist, versions agree, scripts can be loaded."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pykern.environment import installation
from tests.project.tree import ROOT, source_files

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def test_every_extra_that_is_advised_exists():
    """An error calls `install_extra("cuda")`, a page says `pip install ".[cuda]"`: so that must be an extra."""
    named = {}
    advice = re.compile(r"""install_extra\(["'](\w+)|pip install (?:-e )?"[^"\n]*\[([a-z][a-z, ]*)\]\"""")
    for path in (*source_files(), *DOCUMENTS, *(ROOT / "examples").rglob("*.md")):
        for one, several in advice.findall(path.read_text()):
            named.update({extra.strip(): path for extra in (one or several).split(",")})
    assert {"cuda", "rocm", "opencl", "vulkan", "test", "bench"} <= set(named)
    assert not {extra: str(path) for extra, path in named.items() if extra not in EXTRAS}


def test_nobody_is_told_to_install_the_other_project():
    """On the package index `pykern` is another project, whose files would overwrite these."""
    told = re.compile(r"""pip install (?:[\w.-]+ )*["']?pykern(?![-\w/])|["'` ]pykern\[""")
    texts = (
        *source_files(),
        *DOCUMENTS,
        *(ROOT / "benchmarks").rglob("*.py"),
        *(ROOT / "examples").rglob("*.*"),
    )
    assert told.search('"pip install pykern[cuda]"') and told.search("`pykern[cuda]`")
    assert told.search("pip install numpy pykern") and not told.search("pip install pykern-mlir")
    for path in texts:
        if path.suffix in (".py", ".md", ".toml"):
            text = " ".join(path.read_text().split())
            said = [text[m.start() : m.end() + 60] for m in told.finditer(text)]
            assert all("another project" in words for words in said), (path, said)


def with_metadata(folder: Path, *lines: str) -> Path:
    """A folder for `sys.path` with this distribution's metadata."""
    info = folder / "pykern_mlir-1.0.dist-info"
    info.mkdir()
    body = "".join(f"Requires-Dist: {line}\n" for line in lines)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pykern-mlir\nVersion: 1.0\n{body}")
    return folder


def declared() -> list[str]:
    """What a wheel of this project says that it needs."""
    lines = list(PROJECT["dependencies"])
    for extra, requirements in EXTRAS.items():
        for text in requirements:
            needed = Requirement(text)
            marker = f"({needed.marker}) and " if needed.marker else ""
            needed.marker = None
            lines.append(f'{needed}; {marker}extra == "{extra}"')
    return lines


@pytest.mark.parametrize("extra", ["", "cuda", "rocm", "opencl", "vulkan", "metal", "test", "bench"])
def test_advice_names_the_packages_of_an_extra(extra, tmp_path, monkeypatch):
    """The same as pip would install for it here: `packaging` evaluates the markers."""
    monkeypatch.setattr(sys, "path", [str(with_metadata(tmp_path, *declared()))])
    command = installation.install_extra(extra) if extra else installation.install_needed()
    texts = EXTRAS[extra] if extra else PROJECT["dependencies"]
    needed = [r for r in map(Requirement, texts) if r.marker is None or r.marker.evaluate()]
    if not needed:  # Metal's, but on a Mac: nothing to name
        assert extra == "metal"
        return
    words = shlex.split(command)
    assert words[:2] == ["pip", "install"]
    found = [Requirement(word) for word in words[2:]]
    assert {(r.name, r.specifier) for r in found} == {(r.name, r.specifier) for r in needed}


def test_advice_names_single_packages(tmp_path, monkeypatch):
    lines = [
        "numpy>=1",
        'a==1.*; extra == "x"',
        'c; extra == "x"',
        'd; sys_platform == "no" and extra == "x"',
    ]
    folder = with_metadata(tmp_path, *lines)
    monkeypatch.setattr(sys, "path", [str(folder)])
    assert installation.install_extra("x") == 'pip install "a==1.*" c'
    assert installation.install_extra("x", "c") == "pip install c"
    assert installation.install_extra("x", "a") == 'pip install "a==1.*"'
    assert installation.install_needed("numpy") == 'pip install "numpy>=1"'


def test_advice_in_sources_that_nobody_installed(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    assert installation.install_extra("cuda", "cuda-bindings") == f'pip install "{ROOT}[cuda]"'
    assert installation.install_needed() == f'pip install "{ROOT}"'


def test_files_of_the_other_project_are_told(tmp_path):
    """Beside pykern's own, and in a folder that Python looks into."""
    copy = tmp_path / "site"
    (copy / "pykern" / "environment").mkdir(parents=True)
    for name in (
        "__init__.py",
        "environment/__init__.py",
        "environment/installation.py",
        "environment/bootstrap.py",
    ):
        shutil.copy(ROOT / "pykern" / name, copy / "pykern" / name)
    program = (
        "import pykern; from pykern.environment.installation import other_project; print(other_project())"
    )

    def told(*paths: Path) -> tuple[str, str]:
        command = f"import sys; sys.path[:0] = {[str(p) for p in paths]!r}; {program}"
        ran = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
        return ran.stdout.strip(), ran.stderr

    assert told(copy) == ("", "")
    other = tmp_path / "elsewhere"
    (other / "pykern" / "pkcli").mkdir(parents=True)
    said, warning = told(copy, other)
    assert said.startswith(str(other / "pykern")) and "pip uninstall pykern" in said and not warning
    (copy / "pykern" / "pkcli").mkdir()
    said, warning = told(copy)
    assert (
        said.startswith(str(copy / "pykern")) and "RuntimeWarning" in warning and "another project" in warning
    )


@pytest.mark.parametrize("command", PROJECT["scripts"])
def test_commands_can_be_loaded(command):
    module, function = PROJECT["scripts"][command].split(":")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("text", PROJECT["dependencies"])
def test_base_dependencies_are_installed_as_asked(text):
    """What is tested is what users get."""
    needed = Requirement(text)
    if needed.marker is None or needed.marker.evaluate():
        assert needed.specifier.contains(metadata.version(needed.name), prereleases=True)


def test_changelog_has_this_version_or_unreleased():
    headings = re.findall(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings
    assert headings[0] in ("Unreleased", PROJECT["version"])


def test_version_is_the_packages():
    assert importlib.import_module("pykern").__version__ == PROJECT["version"]


def test_every_setting_of_the_environment_is_in_one_file():
    """`os.environ` is read in settings.py; elsewhere it is passed on to other programs at most."""
    reads = re.compile(r"os\.(getenv\(|environ\.get\(|environ\[)[\"']PYKERN_")
    wrong = [p for p in source_files() if p.name != "settings.py" and reads.search(p.read_text())]
    assert not wrong
