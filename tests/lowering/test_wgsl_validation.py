"""Every sample of WGSL is taken by the two compilers that there are: naga, in wgpu, and Tint, in Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.explorer.browser import WEBGPU, launched
from tests.lowering.wgsl_samples import LIT, launched_samples, wgsl_samples
from tests.project.tree import ROOT

TOLD_BY_TINT = """async texts => {
    const adapter = await navigator.gpu.requestAdapter();
    const device = await adapter.requestDevice();
    const told = {};
    for (const [name, code] of Object.entries(texts)) {
        device.pushErrorScope("validation");
        const module = device.createShaderModule({code});
        const info = await module.getCompilationInfo();
        const found = info.messages.filter(m => m.type === "error").map(m => `${m.lineNum}: ${m.message}`);
        if (!found.length) device.createComputePipeline({layout: "auto", compute: {module}});
        const wrong = await device.popErrorScope();
        told[name] = found.length ? found.join("\\n") : wrong === null ? "" : wrong.message;
    }
    return told;
}"""
"""What is wrong with each text, "" for nothing: as a module, which knows of uniform control flow, and as a pipeline."""

WIDE = re.compile(r"\b(?:[iuf]64|\d+l[iuf])\b")
"""Types and numbers of 64 bits."""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """An empty page, from a file: others have no WebGPU."""
    page = tmp_path_factory.mktemp("tint") / "empty.html"
    page.write_text("<!doctype html><title>WGSL</title>")
    for browser in launched(*WEBGPU):
        opened = browser.new_page()
        opened.goto(page.as_uri())
        yield opened


def test_no_types_of_64_bits():
    """WGSL itself has none; wgpu's native devices do, which is another target."""
    assert {name: WIDE.findall(text) for name, text in wgsl_samples().items() if WIDE.search(text)} == {}


def test_naga_takes_every_sample():
    wgpu = pytest.importorskip("wgpu")
    device = wgpu.gpu.request_adapter_sync().request_device_sync()  # without any feature
    for name, text in wgsl_samples().items():
        try:
            device.create_shader_module(code=text)
        except wgpu.GPUError as error:
            pytest.fail(f"{name}: {error}\n{text}")


def test_every_lit_test_of_wgsl_is_a_sample():
    """But for those of native devices, whose WGSL has types of 64 bits, and of subgroups (`test_wgsl_subgroups`)."""
    named = {name for name, _ in LIT} | {"native-wgsl.py", "wgsl-subgroups.py"}
    files = {file.name for file in (ROOT / "lit_tests").rglob("*.py") if "wgsl" in file.read_text()}
    assert files == named


@pytest.mark.slow
def test_naga_takes_what_is_launched():
    device = pytest.importorskip("wgpu").gpu.request_adapter_sync().request_device_sync()
    for name, text in launched_samples().items():
        assert WIDE.search(text) is None, name
        device.create_shader_module(code=text)


@pytest.mark.parametrize("samples", [wgsl_samples, pytest.param(launched_samples, marks=pytest.mark.slow)])
def test_tint_takes_every_sample(tab, samples):
    told = tab.evaluate(TOLD_BY_TINT, samples())
    assert {name: said for name, said in told.items() if said} == {}


def test_tint_tells_what_is_wrong(tab):
    """Above all barriers that not all work-items reach, which naga takes."""
    text = (
        "@compute @workgroup_size(8) fn parted(@builtin(local_invocation_id) id: vec3u) "
        "{ if (id.x > 3) { workgroupBarrier(); } }"
    )
    assert "uniform control flow" in tab.evaluate(TOLD_BY_TINT, {"parted": text})["parted"]
