"""pyproject.toml says what is so: extras that messages name exist, versions agree, scripts can be loaded."""

from __future__ import annotations

import importlib
import re
import sys
from importlib import metadata

import pytest
from packaging.requirements import Requirement

from tests.project.tree import ROOT, source_files

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def test_every_extra_that_is_advised_exists():
    """An error says `pip install "pykern[cuda]"`, so that must be an extra."""
    named = {}
    for path in (*source_files(), *DOCUMENTS, *(ROOT / "examples").glob("*.py")):
        for extras in re.findall(r"pykern\[([a-z][a-z, ]*)\]", path.read_text()):
            named.update({extra.strip(): path for extra in extras.split(",")})
    assert not {extra: str(path) for extra, path in named.items() if extra not in EXTRAS}


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
