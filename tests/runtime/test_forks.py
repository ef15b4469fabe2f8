"""A child of `os.fork`: devices that live in the parent's threads are refused there, others run."""

from __future__ import annotations

import sys
import textwrap

import pytest

from tests.project.programs import attempt

PROGRAM = """
import os, sys, signal
import numpy as np
import pykern as pk

@pk.kernel
def increase(x):
    i = pk.index()
    x[i] += 1

def child(after):
    pid = os.fork()
    if pid == 0:
        signal.alarm(300)  # a child that waits for ever is ended, and its status is not 0
        try:
            after()
        except pk.DeviceError as error:
            print("refused:", error.reason, "/", error.hint, flush=True)
        sys.exit(0)
    assert os.waitpid(pid, 0)[1] == 0
"""


def run(tmp_path, text: str) -> str:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM + textwrap.dedent(text))
    status, output, errors = attempt(sys.executable, file, cwd=tmp_path)
    assert status == 0, output + errors
    return output


@pytest.mark.parametrize(
    "use",
    [
        "increase(x, ndrange=8)",
        "x.numpy()",
        "pk.zeros(8, pk.f32, device=x.device)",
        "pk.Stream(x.device)",
        "event.wait()",
        "pk.synchronize(x.device)",
        "twice(pk.ones(3, pk.f32, device=x.device))",
    ],
)
@pytest.mark.parametrize("device", ["vulkan:0", "opencl:0"], indirect=True)
def test_devices_with_threads_are_refused_in_a_child(tmp_path, device, use):
    output = run(
        tmp_path,
        f"""
        @pk.jit
        def twice(a):
            return a + a

        x = pk.zeros(8, pk.f32, device="{device}")
        for _ in range(4):  # the later ones run no Python
            event = increase(x, ndrange=8)
        child(lambda: {use})
        increase(x, ndrange=8)
        assert (x.numpy() == 5).all()  # the parent goes on
        """,
    )
    assert output.startswith(f"refused: {device} (") and "is a fork of it" in output
    assert "spawn" in output


def test_a_child_may_open_vulkan_itself(tmp_path, need_device):
    need_device("vulkan:0")
    output = run(
        tmp_path,
        """
        from pykern.runtime import registry

        assert registry.found("vulkan")[0].ordinal == 0  # looked at, not opened

        def use():
            x = pk.zeros(8, pk.f32, device="vulkan:0")
            increase(x, ndrange=8)
            print(x.numpy().sum())

        child(use)
        """,
    )
    assert output == "8.0\n"


@pytest.mark.parametrize("device", ["cpu", "python"], indirect=True)
def test_other_devices_run_in_a_child(tmp_path, device):
    output = run(
        tmp_path,
        f"""
        x = pk.zeros(1 << 20, pk.f32, device="{device}")
        increase(x, ndrange=1 << 20)

        def use():
            increase(x, ndrange=1 << 20)
            assert (x.numpy() == 2).all()
            print("ran")

        child(use)
        """,
    )
    assert output == "ran\n"


def test_a_child_ends_although_the_parent_s_work_is_under_way(tmp_path, need_device):
    """Its end waits for no stream of the parent, and it lets go of arrays without the driver."""
    need_device("vulkan:0")
    run(
        tmp_path,
        """
        import gc
        x = pk.zeros(1 << 22, pk.f32, device="vulkan:0")
        for _ in range(50):
            increase(x, ndrange=1 << 22)

        def use():
            global x
            del x
            gc.collect()

        child(use)
        assert (x.numpy() == 50).all()
        """,
    )
