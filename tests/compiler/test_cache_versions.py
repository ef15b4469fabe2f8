"""The line of versions in every key: it changes when it must, and only then."""

from __future__ import annotations

import errno
import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pykern.compiler import versions as module
from pykern.compiler.versions import host_cpu, versions
from pykern.errors import DeviceError

ROOT = Path(__file__).resolve().parents[2]


def line_of(root: Path, *path: Path) -> str:
    """The versions as a process sees them whose pykern lies in `root`."""
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from pykern.compiler.versions import versions; print(versions())\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(root), *map(str, path)],
        capture_output=True, text=True, check=True, timeout=20,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    (root / "pykern" / "compiler").mkdir(parents=True)
    (root / "passes").mkdir()
    for name in ["versions.py", "__init__.py"]:
        shutil.copy2(ROOT / "pykern" / "compiler" / name, root / "pykern" / "compiler" / name)
    for folder, *names in (
        ("environment", "__init__.py", "bootstrap.py", "installation.py"),
        ("data", "__init__.py", "digests.py"),
    ):
        (root / "pykern" / folder).mkdir()
        for name in names:
            shutil.copy2(ROOT / "pykern" / folder / name, root / "pykern" / folder / name)
    (root / "pykern" / "__init__.py").write_text("")
    (root / "passes" / "fuse.py").write_text("level = 1\n")
    (root / "pykern" / "passes").symlink_to("../passes")
    return root


def test_agrees_with_the_metadata():
    words = versions().split()
    named = dict(zip(words[::2], words[1::2], strict=False))
    assert named["llvmlite"] == importlib.metadata.version("llvmlite")
    assert named["numpy"] == importlib.metadata.version("numpy").split(".")[0]
    assert named["mlir"] == next(
        d.version
        for d in importlib.metadata.distributions()
        if "mlir_python_bindings" in d.name.replace("-", "_")
    )
    assert sys.implementation.cache_tag in versions()
    assert "\n" not in versions()


def test_the_same_in_every_process_and_directory(checkout: Path, monkeypatch: pytest.MonkeyPatch):
    first = line_of(checkout)
    (checkout / "passes" / "__pycache__").mkdir()
    (checkout / "passes" / "__pycache__" / "fuse.cpython-311.pyc").write_bytes(b"\0")
    (checkout / "passes" / "notes.txt").write_text("")
    (checkout / "pykern" / "explorer").mkdir()
    (checkout / "pykern" / "explorer" / "page.py").write_text("")  # it shows code, and makes none
    monkeypatch.chdir(checkout / "passes")
    assert line_of(checkout) == first


def test_every_edit_of_a_checkout_changes_it(checkout: Path):
    seen = {line_of(checkout)}
    fuse = checkout / "passes" / "fuse.py"
    fuse.write_text("level = 22\n")
    seen.add(line_of(checkout))
    os.utime(fuse, ns=(1, 1))  # same size, other time
    seen.add(line_of(checkout))
    fuse.rename(fuse.with_name("fuse2.py"))
    seen.add(line_of(checkout))
    (checkout / "passes" / "deep").mkdir()
    (checkout / "passes" / "deep" / "new.py").write_text("")
    seen.add(line_of(checkout))
    assert len(seen) == 5


def test_an_installed_pykern_is_known_by_its_record(checkout: Path):
    (checkout / "pykern-9.dist-info").mkdir()  # another project's
    (checkout / "otherpykern_mlir-9.dist-info").mkdir()
    (checkout / "otherpykern_mlir-9.dist-info" / "RECORD").write_text("not ours")
    info = checkout / "pykern_mlir-1.2.3.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("pykern/__init__.py,sha256=abc,0\n")
    first = line_of(checkout)
    assert first.startswith("pykern 1.2.3:")
    os.utime(checkout / "passes" / "fuse.py", ns=(5, 5))  # times differ between images of one release
    assert line_of(checkout) == first
    (info / "RECORD").write_text("pykern/__init__.py,sha256=abd,0\n")
    assert line_of(checkout) != first


def test_bindings_built_by_hand_are_known_by_their_files(checkout: Path, tmp_path: Path):
    libraries = tmp_path / "built" / "mlir" / "_mlir_libs"
    libraries.mkdir(parents=True)
    (tmp_path / "built" / "mlir" / "__init__.py").write_text("raise ImportError('never imported')")
    (libraries / "_mlir.so").write_bytes(b"1")
    first = line_of(checkout, tmp_path / "built")
    assert "mlir built:" in first
    (libraries / "_mlir.so").write_bytes(b"22")
    assert line_of(checkout, tmp_path / "built") != first


@pytest.mark.skipif(not os.path.exists("/proc/cpuinfo"), reason="reads /proc/cpuinfo")
def test_the_cpu_is_known_by_its_features_not_by_its_clock(monkeypatch: pytest.MonkeyPatch):
    text = Path("/proc/cpuinfo").read_text()

    def cpu(content: str) -> str:
        monkeypatch.setattr(os, "read", lambda *_: content.encode())
        host_cpu.cache_clear()
        return host_cpu()

    try:
        real = cpu(text)
        faster = "\n".join("cpu MHz : 1" if "MHz" in line else line for line in text.splitlines())
        assert cpu(faster) == real
        first = text.split("\n\n")[0]
        assert cpu(first) == real  # the first processor speaks for all
        assert (
            cpu(first.replace("flags\t\t:", "flags\t\t: amx").replace("Features\t:", "Features\t: sme"))
            != real
        )
    finally:
        monkeypatch.undo()
        host_cpu.cache_clear()
    assert host_cpu() == real


def test_costs_little_and_imports_nothing():
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from pykern.compiler.versions import versions\n"
        "start = time.perf_counter(); versions(); print((time.perf_counter() - start) * 1e3)\n"
        "print(sorted({'mlir', 'llvmlite', 'numpy', 'importlib.metadata'} & set(sys.modules)))\n"
    )
    command = [sys.executable, "-I", "-c", program, str(ROOT)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(5)]
    best, modules = min((run.splitlines() for run in runs), key=lambda lines: float(lines[0]))
    print(best, "ms")
    assert float(best) < 50  # some 2 ms; the limit leaves room for a busy machine
    assert modules == "[]"


def test_names_of_distributions(tmp_path: Path):
    for name in [
        "numpy-2.1.0.dist-info",
        "types_numpy-1.dist-info",
        "x.y_mlir_python_bindings-3.dist-info",
        "numpy",
    ]:
        (tmp_path / name).mkdir()
    found = module._distributions(str(tmp_path), "numpy")
    assert found == [("numpy-2.1.0.dist-info", "2.1.0")]
    assert [v for _, v in module._distributions(str(tmp_path), "mlir_python_bindings")] == ["3"]


def test_a_limit_of_open_files_makes_no_version(monkeypatch: pytest.MonkeyPatch):
    """Of files that cannot be looked at just now nothing is known: neither that they are absent, nor their version."""
    expected = versions()

    def refuse(*arguments: object, **keywords: object) -> object:
        raise OSError(errno.EMFILE, "Too many open files")

    for name in ("scandir", "listdir", "open"):
        versions.cache_clear()
        module._metadata_names.cache_clear()
        module.host_cpu.cache_clear()
        with monkeypatch.context() as limited:
            limited.setattr(os, name, refuse)
            with pytest.raises(DeviceError, match=r"Too many open files.*\n.*ulimit -n"):
                versions()
        assert versions() == expected
