"""Subgroups in WGSL: wgpu takes their functions without a line that Tint wants and naga refuses."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import pykern as pk
from pykern.runtime import registry
from tests.explorer.browser import WEBGPU, launched

N = 160
RUN_BY_BROWSER = """async ([code, x, words, outputs]) => {
    const adapter = await navigator.gpu.requestAdapter();
    const {subgroupMinSize, subgroupMaxSize} = adapter.info;
    if (!adapter.features.has("subgroups")) return null;
    const device = await adapter.requestDevice({requiredFeatures: ["subgroups"]});
    device.pushErrorScope("validation");
    const module = device.createShaderModule({code});
    const compute = {module, entryPoint: "collected"};
    const pipeline = await device.createComputePipelineAsync({layout: "auto", compute});
    const [storage, uniform] = [GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC, GPUBufferUsage.UNIFORM];
    const buffer = (numbers, usage) => {
        const made = device.createBuffer({size: numbers.byteLength, usage, mappedAtCreation: true});
        new numbers.constructor(made.getMappedRange()).set(numbers);
        made.unmap();
        return made;
    };
    const outs = Array.from({length: outputs}, () => buffer(new Int32Array(x.length), storage));
    const all = [...outs, buffer(new Int32Array(x), storage)];
    if (words.length) all.push(buffer(new Int32Array(words), uniform));
    const entries = all.map((each, binding) => ({binding, resource: {buffer: each}}));
    const commands = device.createCommandEncoder();
    const pass = commands.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({layout: pipeline.getBindGroupLayout(0), entries}));
    pass.dispatchWorkgroups(Math.ceil(x.length / 64));
    pass.end();
    const read = outs.map(out => {
        const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
        const to = device.createBuffer({size: out.size, usage});
        commands.copyBufferToBuffer(out, 0, to, 0, out.size);
        return to;
    });
    device.queue.submit([commands.finish()]);
    const wrong = await device.popErrorScope();
    if (wrong) throw new Error(wrong.message);
    for (const each of read) await each.mapAsync(GPUMapMode.READ);
    const found = read.map(each => [...new Int32Array(each.getMappedRange())]);
    return {sizes: [subgroupMinSize, subgroupMaxSize], found};
}"""


@pk.kernel(workgroup=64)
def collected(of_group, of_subgroup, scan, before, reversed_, x):
    i = pk.index()
    of_group[i] = pk.group_reduce(x[i], "add")
    of_subgroup[i] = pk.subgroup_reduce(x[i], "max")
    scan[i] = pk.subgroup_scan(x[i], "add")
    before[i] = pk.subgroup_scan(x[i], "add", exclusive=True)
    reversed_[i] = pk.subgroup_shuffle(x[i], 31 - pk.lane_index())


@pk.kernel(workgroup=(8, 4))
def narrow(out, x):
    out[pk.index()] = pk.subgroup_reduce(x[pk.index()], "add")


def text(kernel, target, *shape):
    spec = pk.spec(shape, pk.i32)
    arguments = [spec] * (6 if kernel is collected else 2)
    return kernel.lower(*arguments, ndrange=shape, target=target).compile().source


def wanted(x):
    groups, parts = [x[n : n + 64] for n in range(0, N, 64)], x.reshape(-1, 32)
    return [
        np.concatenate([np.full(len(each), each.sum()) for each in groups]),
        np.repeat(parts.max(axis=1), 32),
        parts.cumsum(axis=1).ravel(),
        (parts.cumsum(axis=1) - parts).ravel(),
        parts[:, ::-1].ravel(),
    ]


def test_a_line_asks_for_subgroups_where_a_browser_runs_the_text():
    own, plain = text(collected, "source:wgsl+subgroups8", N), text(collected, "wgsl", N)
    launched_by_us = text(collected, "source:wgsl+words+subgroups8", N)
    assert own.startswith("enable subgroups;\n") and "must both be 8" in own
    assert "subgroupShuffleXor(" in own and "subgroupShuffleUp(" in own
    assert "subgroupShuffle(" not in own, "between any two of 32 lanes a value goes through memory"
    assert "subgroupShuffle(" in text(collected, "source:wgsl+subgroups32", N)
    assert "subgroupShuffleXor(" in launched_by_us and "enable" not in launched_by_us
    assert "subgroup" not in plain.replace("of_subgroup", "")


def test_rows_that_lanes_do_not_fill_go_through_memory():
    """The standard does not say where a row of work-items is cut into lanes."""
    assert "subgroupShuffle" in text(narrow, "source:wgsl+subgroups4", 64, 64)
    assert "subgroupShuffle" not in text(narrow, "source:wgsl+subgroups8", 64, 64)


@pytest.mark.parametrize("device", ["webgpu:0"], indirect=True)
def test_the_device_has_subgroups(device, rng):
    info = registry.opened(device).info
    assert f"+subgroups{info.subgroup_size}" in info.target
    assert "subgroupShuffleXor(" in text(collected, info.target, N)
    x = rng.integers(-(2**31), 2**31 - 1, N, np.int32)
    outs = [np.zeros(N, np.int32) for _ in range(5)]
    collected(*outs, x, ndrange=N, device=device)
    for out, numbers in zip(outs, wanted(x), strict=True):
        np.testing.assert_array_equal(out, numbers.astype(np.int32))


def test_a_browser_runs_subgroups(tmp_path: Path, rng):
    """Whose lanes are 4 in SwiftShader."""
    code = text(collected, "source:wgsl+subgroups4", N)
    fields = re.findall(r"^    (\w+): [iu]32,$", code, re.MULTILINE)
    words = [0 if name == "zero" else N for name in fields] if "words." in code else []
    x = rng.integers(-(2**31), 2**31 - 1, N, np.int32)
    page = tmp_path / "empty.html"
    page.write_text("<!doctype html><title>WGSL</title>")
    for browser in launched(*WEBGPU):
        tab = browser.new_page()
        tab.goto(page.as_uri())
        told = tab.evaluate(RUN_BY_BROWSER, [code, x.tolist(), words, 5])
        if told is None or told["sizes"] != [4, 4]:
            pytest.skip("this browser's adapter has no subgroups of 4 lanes")
        for out, numbers in zip(told["found"], wanted(x), strict=True):
            np.testing.assert_array_equal(out, numbers.astype(np.int32))
