"""Devices by name: what is there, what is not and why; how OpenCL's libraries are found."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import pykern as pk
from pykern.environment.installation import install_extra
from pykern.runtime import registry
from pykern.runtime.driver import Missing
from pykern.runtime.drivers.opencl import icd
from tests.project.programs import run
from tests.project.tree import ROOT


def test_cpu_and_python_are_always_there():
    assert [d.name for d in pk.devices()][:2] == ["cpu", "python"]
    assert pk.device("cpu").info.target == "llvm"


def test_the_reference_works_on_the_cpus_arrays():
    assert registry.opened("python") is registry.opened("cpu")
    assert pk.zeros(3, device="python").device.name == "cpu"
    assert pk.memory_stats("python") == pk.memory_stats("cpu")


def test_null_is_for_tests_and_not_listed():
    assert "null:0" not in [d.name for d in pk.devices()]
    assert pk.device("null:1").name == "null:1"


def test_a_kind_is_its_first_device():
    assert pk.device("null") == pk.device("null:0")
    assert hash(pk.device("null")) == hash(pk.device("null:0"))
    assert pk.device(pk.device("null")) == pk.device("null")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpu", r"no device 'gpu'"),
        ("null:2", r"there are null:0 \(nothing\), null:1"),
        ("null:x", "'x' is no number"),
        ("cpu:3", "no device 'cpu:3'"),
        ("rocm:0", "rocm"),
    ],
)
def test_unknown_devices_are_refused(name, said):
    with pytest.raises(pk.DeviceError, match=said):
        pk.device(name)


def test_every_kind_is_there_or_says_why_not():
    for kind in registry.KINDS:
        found = registry.found(kind)
        if isinstance(found, Missing):
            assert found.reason and found.runtime == kind
        else:
            assert found and [d.ordinal for d in found] == list(range(len(found)))
            assert f"{kind}:0" in [d.name for d in pk.devices()]


def test_required_devices_fail_instead_of_being_skipped(need_device, monkeypatch):
    monkeypatch.setattr(registry, "found", lambda kind: Missing(kind, "nobody built it", ""))
    monkeypatch.delenv("PYKERN_TEST_REQUIRE", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no rocm device: nobody built it"):
        need_device("rocm:0")
    monkeypatch.setenv("PYKERN_TEST_REQUIRE", "vulkan,rocm")
    with pytest.raises(pytest.fail.Exception, match="asks for it: no rocm device: nobody built it"):
        need_device("rocm:0")


def in_new_process(program: str, **environment: str) -> str:
    return run(sys.executable, "-c", program, cwd=ROOT, environment={**os.environ, **environment}).strip()


def test_the_environment_names_the_device():
    program = "import pykern as pk; print(pk.zeros(3, pk.f32))"
    assert "on null:1" in in_new_process(program, PYKERN_DEVICE="null:1")
    assert in_new_process(program, PYKERN_DEVICE="cpu") == "[0. 0. 0.]"


def test_no_bindings_are_loaded_for_the_cpu():
    # the source of a kernel is read from a file
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import tests.tools.kernels_for_tools as t, numpy as np\n"
    program += "x = np.ones(4, np.float32); t.saxpy(x, x.copy(), x.copy(), 2.0, ndrange=4)\n"
    program += (
        "print(sorted(m for m in sys.modules if m in ('pyopencl', 'vulkan', 'cuda', 'pykern.arrays.array')))"
    )
    assert in_new_process(program) == "[]"


# -- OpenCL's loader -------------------------------------------------------------------------------

PLATFORMS = (
    "import os, pykern as pk; from pykern.runtime import registry; found = registry.found('opencl'); "
    "print(isinstance(found, tuple), os.environ.get('OCL_ICD_VENDORS')); print(found)"
)


@pytest.fixture
def packaged():
    if icd.packaged_library() is None:
        pytest.skip("intel-opencl-rt is not installed")


@pytest.mark.usefixtures("packaged")
def test_the_packaged_driver_is_found_without_set_up():
    environment = {k: v for k, v in os.environ.items() if k not in icd.VARIABLES}
    output = run(sys.executable, "-c", PLATFORMS, cwd=ROOT, environment=environment)
    assert output.startswith("True None")  # the variable is gone again


@pytest.mark.usefixtures("packaged")
def test_what_the_user_set_is_left_alone(tmp_path):
    output = in_new_process(PLATFORMS, OCL_ICD_VENDORS=str(tmp_path))
    assert output.startswith(f"False {tmp_path}")
    assert f"looked in OCL_ICD_VENDORS={tmp_path}" in output


@pytest.mark.usefixtures("packaged")
def test_entries_of_the_system_stay(tmp_path, monkeypatch):
    (tmp_path / "theirs.icd").write_text("libtheirs.so\n")
    (tmp_path / "notes.txt").write_text("no entry")
    for variable in icd.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(icd, "SYSTEM", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    with icd.vendors() as tried:
        folder = os.environ["OCL_ICD_VENDORS"]
        entries = {path.name: path.read_text().strip() for path in Path(folder).iterdir()}
        assert os.stat(folder).st_mode & 0o077 == 0
    assert "libtheirs.so" in entries.values() and icd.packaged_library() in entries.values()
    assert not any("no entry" in text for text in entries.values())
    assert str(tmp_path) in tried
    assert "OCL_ICD_VENDORS" not in os.environ and not os.path.exists(folder)


@pytest.mark.usefixtures("packaged")
def test_a_system_that_names_the_driver_is_left_alone(tmp_path, monkeypatch):
    (tmp_path / "intel.icd").write_text(f"{icd.packaged_library()}\n")
    for variable in icd.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(icd, "SYSTEM", str(tmp_path))
    with icd.vendors():
        assert "OCL_ICD_VENDORS" not in os.environ


def test_a_missing_binding_says_what_to_install():
    program = (
        "import sys; sys.modules['pyopencl'] = None; import pykern as pk\n"
        "try: pk.device('opencl:0')\nexcept pk.DeviceError as e: print(e)"
    )
    output = in_new_process(program)
    assert "pyopencl is not there" in output and install_extra("opencl") in output


def test_a_library_of_webgpu_that_does_not_load_is_a_reason(tmp_path):
    """The package is there, what it loads is not: other devices go on."""
    pytest.importorskip("wgpu")
    text = "import pykern as pk; from pykern.runtime import registry; print(registry.found('webgpu').reason)"
    text += "; print([d.name for d in pk.devices()][:2])"
    environment = dict(os.environ, WGPU_LIB_PATH=str(tmp_path / "none.so"))
    printed = run(sys.executable, "-c", text, cwd=ROOT, environment=environment)
    assert "wgpu" in printed and "none.so" in printed and "cpu" in printed
