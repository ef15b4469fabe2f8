"""Array programs and their gradients as files, called without pykern and compared with NumPy."""

from __future__ import annotations

import base64
import ctypes
import json
import re
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.data.artifact import Artifact, DeviceCode
from pykern.exporter.forms import FORMS
from pykern.pytest_plugin import need_device
from pykern.runtime import registry
from pykern.runtime.driver import Memory
from pykern.runtime.metal_emulator.compile import compiled
from tests.exporter.program_cases import CASES, layer, layer_gradient
from tests.lowering.source_runs import C_NUMBERS, C_TYPES, c_compiler, compiled_c, opencl_queue

F = pk.f32
QUICK = ("kernel", "counted loop", "updated")
"""Cases whose objects are tested with each change."""


def described(case) -> list[Any]:
    """Arrays as specs, numbers as they are."""
    return [pk.spec(a.shape, F) if isinstance(a, np.ndarray) else a for a in case.given()]


def called(function: Any, head: str, case, workspace: int) -> tuple[int, list[np.ndarray]]:
    """Call a function by its head in C; gives what it returns, and its results and behind these what it updates."""
    arrays = iter([a.copy() for a in case.given() if isinstance(a, np.ndarray)])
    numbers = iter([a for a in case.given() if not isinstance(a, np.ndarray)])
    expected = iter(case.results())
    memory = np.zeros(workspace + 64, np.uint8)
    found, updated, passed, kept = [], [], [], []
    for constant, kind, star, name in re.findall(
        r"^ {4}(const )?(\w+) (\*?)(?:restrict )?(\w+),?$", head, re.MULTILINE
    ):
        if not star:
            passed.append(C_NUMBERS[kind](next(numbers)))
            continue
        if name == "workspace":
            passed.append(ctypes.c_void_p(-(-memory.ctypes.data // 64) * 64))
            continue
        if name.startswith("result"):
            wanted = next(expected)
            array = np.zeros_like(wanted)
            found.append(array)
        else:
            array = next(arrays)
            if not constant:
                updated.append(array)
        kept.append(array)
        passed.append(ctypes.c_void_p(array.ctypes.data))
    return function(*passed), found + updated


@pytest.mark.parametrize("name", CASES)
def test_c_as_numpy(name: str, tmp_path: Path) -> None:
    if c_compiler() is None:
        pytest.skip("no compiler of C: cc, gcc or clang")
    case = CASES[name]
    made = pk.export(case.program, *described(case), form="c", to=tmp_path / "made.c")
    as_numpy(getattr(compiled_c(made.text, "made"), made.name), "void", made, case)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in CASES]
)
def test_objects_as_numpy(name: str, tmp_path: Path) -> None:
    compiler, case = c_compiler(), CASES[name]
    if compiler is None:
        pytest.skip("no linker: cc, gcc or clang")
    made = pk.export(case.program, *described(case), form="object", to=tmp_path / "made.o")
    subprocess.run((compiler, "-shared", "-o", "made.so", "made.o", "-lm"), cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "made.so"))
    assert as_numpy(getattr(library, made.name), "int32_t", made, case) == 0


def as_numpy(function: Any, gives: str, made: pk.Exported, case) -> int:
    """Call it and compare; gives what it returned."""
    header = made.files["h"].decode()
    size = re.search(r"_WORKSPACE (\d+)", header)
    head = header[header.index(f"{gives} {made.name}(") :]
    head = head[: head.index(");")]
    returned, found = called(function, head, case, int(size[1]) if size else 0)
    for got, wanted in zip(found, case.results(), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)
    return returned


MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include "layer.h"
#include "layer_gradient.h"

int main(void) {
    float x[8 * 6], w[6 * 5], value, by_x[8 * 6], by_w[6 * 5];
    FILE *given = fopen("given.bin", "rb"), *found = fopen("found.bin", "wb");
    if (fread(x, sizeof(float), 8 * 6, given) != 8 * 6 || fread(w, sizeof(float), 6 * 5, given) != 6 * 5) return 1;
    int8_t *memory = (int8_t *)aligned_alloc(64, (LAYER_WORKSPACE + LAYER_GRADIENT_WORKSPACE + 127) / 64 * 64);
    layer(x, w, &value, memory);
    layer_gradient(x, w, by_x, by_w, memory);
    fwrite(&value, sizeof(float), 1, found);
    fwrite(by_x, sizeof(float), 8 * 6, found);
    fwrite(by_w, sizeof(float), 6 * 5, found);
    fclose(found);
    free(memory);
    return 0;
}
"""


@pytest.mark.parametrize(("compiler", "ending", "flags"), [("gcc", "c", ("-std=c11",)), ("g++", "cpp", ())])
def test_a_program_in_c_without_python(
    compiler: str, ending: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    """A value and its gradient, linked together."""
    if not shutil.which(compiler) or not shutil.which("gcc"):
        pytest.skip(f"no compiler of C or C++: {compiler}")
    specs = pk.spec((8, 6), F), pk.spec((6, 5), F)
    pk.export(layer, *specs, form="c", to=tmp_path / "layer.c")
    pk.export(pk.grad(layer, (0, 1)), *specs, form="c", to=tmp_path / "layer_gradient.c")
    generator = np.random.default_rng(1)
    x, w = (generator.standard_normal(shape).astype(np.float32) for shape in ((8, 6), (6, 5)))
    (tmp_path / "given.bin").write_bytes(x.tobytes() + w.tobytes())
    (tmp_path / f"main.{ending}").write_text(MAIN)
    common = ("-O2", "-ffp-contract=off", "-fopenmp", "-Wall", "-Wno-unknown-pragmas", "-Werror")
    for command in (
        ("gcc", "-std=c11", *common, "-c", "layer.c", "layer_gradient.c"),
        (compiler, *flags, *common, "-o", "main", f"main.{ending}", "layer.o", "layer_gradient.o", "-lm"),
        ("./main",),
    ):
        subprocess.run(command, cwd=tmp_path, check=True)
    found = np.fromfile(tmp_path / "found.bin", np.float32)
    wanted = [CASES["layer"].program.__wrapped__(x, w), *layer_gradient(x, w)]
    np.testing.assert_allclose(
        found, np.concatenate([np.ravel(each) for each in wanted]), rtol=1e-5, atol=1e-6
    )


@pk.jit
def mixed(double, x):
    """Long enough for threads; a parameter is called as a type of C."""
    return np.tanh(x @ double) + x, (x * x).sum()


OBJECT_MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mixed.h"

static int64_t loops = 0, rows = 0;

static void backwards(void (*part)(void *, int64_t, int64_t), void *what, int64_t extent) {
    loops++;
    for (int64_t k = extent; k > 0; k -= 3) {
        part(what, k < 3 ? 0 : k - 3, k);
        rows += k < 3 ? k : 3;
    }
    if (rows < extent) abort();
    rows = 0;
}

int main(void) {
    enum { N = 256, SIZE = N * N };
    float *w = (float *)malloc(4 * SIZE), *x = (float *)malloc(4 * SIZE);
    float *y = (float *)calloc(SIZE, 4), value;
    char *workspace = (char *)aligned_alloc(64, (MIXED_WORKSPACE + 127) / 64 * 64);
    FILE *given = fopen("given.bin", "rb"), *found = fopen("found.bin", "wb");
    if (fread(w, 4, SIZE, given) != SIZE || fread(x, 4, SIZE, given) != SIZE) return 1;
    for (int way = 0; way < 3; way++) {
        memset(y, 0, 4 * SIZE);
        const int32_t code = way == 0 ? mixed(w, x, y, &value, workspace)
            : way == 1 ? mixed_parallel(w, x, y, &value, workspace)
            : mixed_shared(w, x, y, &value, workspace, backwards);
        if (code != MIXED_OK) return 2;
        fwrite(y, 4, SIZE, found);
        fwrite(&value, 4, 1, found);
    }
    fclose(found);
    if (loops == 0) return 3;
    if (mixed(NULL, x, y, &value, workspace) != MIXED_MISSING) return 4;
    if (mixed(w, x, y, NULL, workspace) != MIXED_MISSING) return 5;
    if (mixed(w, x, y, &value, NULL) != MIXED_MISSING) return 6;
    if (mixed(w, x, y, &value, workspace + 4) != MIXED_UNALIGNED) return 7;
    return 0;
}
"""


@pytest.mark.parametrize(("compiler", "ending", "flags"), [("gcc", "c", ("-std=c11",)), ("g++", "cpp", ())])
def test_an_object_of_a_program_without_python(
    compiler: str, ending: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    """In one thread, in those of OpenMP, by a function that shares loops; and the codes of wrong calls."""
    if not shutil.which(compiler):
        pytest.skip(f"no compiler of C or C++: {compiler}")
    spec = pk.spec((256, 256), F)
    pk.export(mixed, spec, spec, form="object", to=tmp_path / "mixed.o")
    generator = np.random.default_rng(2)
    w, x = (generator.standard_normal((256, 256)).astype(np.float32) / 8 for _ in range(2))
    (tmp_path / "given.bin").write_bytes(w.tobytes() + x.tobytes())
    (tmp_path / f"main.{ending}").write_text(OBJECT_MAIN)
    told = ["-I.", "mixed.o", "-lm"]
    if shutil.which("pkg-config"):
        asked = ("pkg-config", "--cflags", "--libs", "./mixed.pc")
        told = subprocess.run(asked, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()
    command = (compiler, *flags, "-O2", "-fopenmp", "-Wall", "-Werror", "-o", "main", f"main.{ending}", *told)
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run("./main", cwd=tmp_path, check=True)
    y, value = mixed.__wrapped__(w, x)
    for found in np.fromfile(tmp_path / "found.bin", np.float32).reshape(3, -1):
        np.testing.assert_allclose(found[:-1].reshape(y.shape), y, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(found[-1], value, rtol=1e-4)


def test_wgsl_of_programs_is_taken_by_naga() -> None:
    wgpu = pytest.importorskip("wgpu")
    device = wgpu.gpu.request_adapter_sync().request_device_sync()  # without any feature
    for name in ("layer", "gradient of layer", "softmax"):
        case = CASES[name]
        made = pk.export(case.program, *described(case), form="wgsl")
        for ending, text in made.files.items():
            if ending.endswith("wgsl"):
                device.create_shader_module(code=text.decode())


@pk.kernel
def told(out, x):
    i = pk.index()
    print(x[i])
    out[i] = x[i]


@pk.jit
def telling(x):
    out = np.empty_like(x)
    told(out, x, ndrange=len(x))
    return out


@pytest.mark.parametrize("form", ["c", "object"])
def test_a_program_that_prints_is_refused(form: str) -> None:
    with pytest.raises(pk.TargetError, match=r"nobody|needs pykern") as raised:
        pk.export(telling, pk.spec((8,), F), form=form)
    assert raised.value.span is not None


def by_manifest(made: pk.Exported, given: list[Any]) -> list[np.ndarray]:
    """Run a program's OpenCL C as a host does that knows its manifest alone; gives the results."""
    cl = pytest.importorskip("pyopencl")
    context, queue = opencl_queue()
    text = next(iter(made.files.values())).decode()
    flags, told = cl.mem_flags, made.manifest
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        exact = "-cl-fp32-correctly-rounded-divide-sqrt"
        program = cl.Program(context, text).build(["-cl-std=CL1.2", exact], cache_dir=False)
    buffers, numbers = {}, {}
    for argument, value in zip(told["arguments"], given, strict=True):
        if argument["kind"] == "memory":
            buffers[argument["name"]] = cl.Buffer(
                context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=value
            )
        else:
            numbers[argument["name"]] = value
    for each in (*told["buffers"], *(r for r in told["results"] if r["name"] not in buffers)):
        filled = np.frombuffer(base64.b64decode(each["base64"]), np.uint8) if "base64" in each else None
        size = max(4, each["bytes"])
        buffers[each["name"]] = (
            cl.Buffer(context, flags.READ_WRITE, size)
            if filled is None
            else cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=filled)
        )
    for step in told["steps"]:
        if "copy" in step:
            one, other = step["from"], step["to"]
            cl.enqueue_copy(
                queue, buffers[other["buffer"]], buffers[one["buffer"]], byte_count=step["copy"],
                src_offset=one["byte"], dst_offset=other["byte"],
            )  # fmt: skip
            continue
        head = text[text.index(f"void {step['launch']}(") :]
        kinds = re.findall(r"^ {4}(\w+) (?:\w+ )*\*?\w+,?$", head[: head.index(") {")], re.MULTILINE)
        passed = [
            buffers[each["buffer"]]
            if "buffer" in each
            else C_TYPES[kind](numbers[each["argument"]] if "argument" in each else each["value"])
            for kind, each in zip(kinds, step["arguments"], strict=True)
        ]
        size = tuple(step["workgroup"])
        items = tuple(g * n for g, n in zip(step["groups"], size, strict=True))
        cl.Kernel(program, step["launch"])(queue, items, size, *passed)
    found = []
    for each in told["results"]:
        array = np.empty(each["shape"], each["dtype"].replace("f", "float").replace("i", "int"))
        cl.enqueue_copy(queue, array, buffers[each["name"]])
        found.append(array)
    return found


@pytest.mark.sweep("name")
@pytest.mark.parametrize("name", CASES)
def test_a_host_that_knows_the_manifest_alone(name: str) -> None:
    case = CASES[name]
    if case.decides:  # what the host has to do is exported in C alone
        with pytest.raises(pk.LaunchError, match=r"the host of `[a-z]+` has to"):
            pk.export(case.program, *described(case), form="opencl-c")
        return
    found = by_manifest(pk.export(case.program, *described(case), form="opencl-c"), list(case.given()))
    expected = case.results()
    assert len(found) == len(expected)
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


def by_metal(made: pk.Exported, given: list[Any]) -> list[np.ndarray]:
    """The same for Metal's language, compiled as C++."""
    text, told = made.text, made.manifest
    made_of = compiled(text)
    numbers: dict[str, Any] = {}
    buffers: dict[str, np.ndarray] = {}
    for argument, value in zip(told["arguments"], given, strict=True):
        if argument["kind"] == "memory":
            buffers[argument["name"]] = np.frombuffer(bytearray(value.tobytes()), np.uint8)
        else:
            numbers[argument["name"]] = value
    for each in (*told["buffers"], *(r for r in told["results"] if r["name"] not in buffers)):
        contents = base64.b64decode(each["base64"]) if "base64" in each else bytes(each["bytes"])
        buffers[each["name"]] = np.frombuffer(bytearray(contents), np.uint8)
    for step in told["steps"]:
        if "copy" in step:
            one, other, n = step["from"], step["to"], step["copy"]
            piece = buffers[one["buffer"]][one["byte"] :][:n].copy()
            buffers[other["buffer"]][other["byte"] :][:n] = piece
            continue
        struct = re.search(rf"struct Words_{step['launch']} \{{(.*?)\}}", text, re.DOTALL)
        kinds = re.findall(r"^ {4}(\w+) \w+;", struct[1], re.MULTILINE) if struct else []
        places, words = [], b""
        rest = [each for each in step["arguments"] if "buffer" not in each]
        for each in step["arguments"]:
            if "buffer" in each:
                places.append(buffers[each["buffer"]].ctypes.data + each["byte"])
        for kind, each in zip(kinds, rest, strict=True):
            word = C_TYPES[kind](numbers[each["argument"]] if "argument" in each else each["value"])
            words += b"\0" * (-len(words) % word.itemsize) + word.tobytes()
        packed = np.frombuffer(words + bytes(8), np.uint8)
        groups, size = tuple(step["groups"]), tuple(step["workgroup"])
        assert made_of.run(step["launch"], [*places, packed.ctypes.data], [], groups, size) == 0
    return [
        buffers[each["name"]]
        .view(each["dtype"].replace("f", "float").replace("i", "int"))
        .reshape(each["shape"])
        for each in told["results"]
    ]


@pytest.mark.parametrize("name", ["heat", "gradient of layer", "updated"])
def test_programs_in_metals_language(name: str) -> None:
    need_device("metal:emulated")
    case = CASES[name]
    found = by_metal(pk.export(case.program, *described(case), form="msl"), list(case.given()))
    for got, wanted in zip(found, case.results(), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


@pk.jit
def multiplied(a, b):
    return a @ b


@pytest.mark.parametrize("dtype", [pk.f32, pk.f16])
@pytest.mark.parametrize("target", [None, "source:msl"])
def test_products_in_metals_language(
    target: str | None, dtype: pk.types.DType, rng: np.random.Generator
) -> None:
    need_device("metal:emulated")
    a, b = (rng.standard_normal(shape).astype(dtype.numpy) for shape in ((37, 50), (50, 41)))
    made = pk.export(multiplied, a, b, form="msl", target=target)
    assert ("simdgroup_multiply_accumulate(" in made.text) == (target is None)
    (found,) = by_metal(made, [a, b])
    tolerance = 2e-3 if dtype is pk.f16 else 2e-5
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=5 * tolerance)


@pytest.mark.parametrize(
    ("form", "ending"), [("cuda", "cu"), ("hip", "hip"), ("msl", "metal"), ("wgsl", "wgsl")]
)
def test_programs_in_other_languages_have_a_manifest(form: str, ending: str, tmp_path: Path) -> None:
    made = pk.export(
        layer, pk.spec((8, 6), F), pk.spec((6, 5), F), form=form, to=tmp_path / f"layer.{ending}"
    )
    told = json.loads((tmp_path / f"layer.{ending}.json").read_text())
    assert told == made.manifest and told["results"][0]["name"] == "result"
    launched = [step["launch"] for step in told["steps"] if "launch" in step]
    for kernel in launched:
        text = (tmp_path / f"layer.{told['kernels'][kernel]['file']}").read_text()
        assert f"{kernel}(" in text
        named = [
            each["name"]
            for step in told["steps"]
            if step.get("launch") == kernel
            for each in step["arguments"]
        ]
        assert all(re.search(rf"\b{name}\b", text) for name in named), named


def by_driver(made: pk.Exported, device: str, given: list[Any]) -> list[np.ndarray]:
    """Run a program's binaries as a host does that knows the manifest alone, by the driver of a device."""
    opened, told = registry.opened(device), made.manifest
    driver, stream = opened.driver, opened.driver.stream("normal")
    ending = next(end for end in made.files if end.endswith("json")).removesuffix(".json")
    buffers: dict[str, Memory] = {}
    numbers: dict[str, Any] = {}
    for argument, value in zip(told["arguments"], given, strict=True):
        if argument["kind"] == "memory":
            buffers[argument["name"]] = driver.allocate(value.nbytes)
            driver.copy_in(stream, buffers[argument["name"]], 0, value.reshape(-1).view(np.uint8))
        else:
            numbers[argument["name"]] = value
    for each in (*told["buffers"], *(r for r in told["results"] if r["name"] not in buffers)):
        buffers[each["name"]] = driver.allocate(max(4, each["bytes"]))
        if "base64" in each:
            contents = np.frombuffer(base64.b64decode(each["base64"]), np.uint8)
            driver.copy_in(stream, buffers[each["name"]], 0, contents)
    loaded = {}
    for step in told["steps"]:
        if "copy" in step:
            one, other = step["from"], step["to"]
            to, source = buffers[other["buffer"]], buffers[one["buffer"]]
            driver.copy(stream, to, other["byte"], source, one["byte"], step["copy"])
            continue
        kernel, name = told["kernels"][step["launch"]], step["launch"]
        passed = [word_of(each, buffers, numbers) for each in step["arguments"]]
        if name not in loaded:
            kinds = tuple("memory" if isinstance(each, Memory) else "slot" for each in passed)
            offsets = any(each.get("is") == "offset" for each in step["arguments"])
            code = DeviceCode({"ptx": "ptx", "spv": "spirv", "hsaco": "assembly"}[ending], kinds, offsets)
            artifact = Artifact(
                key="", kernel=told["program"], target=told["target"], entry=name,
                binary=made.files[kernel["file"]], workgroup=tuple(reversed(step["workgroup"])),
                shared_bytes=kernel["shared_bytes"], device=code,
            )  # fmt: skip
            loaded[name] = driver.load(artifact)
        groups, size = tuple(step["groups"]), tuple(step["workgroup"])
        driver.launch(stream, loaded[name], passed, groups, size, step["shared_bytes"])
    found = []
    for each in told["results"]:
        array = np.empty(each["shape"], each["dtype"].replace("f", "float").replace("i", "int"))
        driver.copy_out(stream, array.reshape(-1).view(np.uint8), buffers[each["name"]], 0)
        found.append(array)
    driver.synchronize(stream)
    return found


def word_of(told: dict[str, Any], buffers: dict[str, Memory], numbers: dict[str, Any]) -> Memory | int:
    """An argument of a launch: a place in a buffer, or the bits of a number."""
    if told["kind"] == "memory":
        memory, at = buffers[told["buffer"]], told.get("byte", 0)
        return Memory(memory.handle, memory.nbytes - at, memory.address + at) if at else memory
    value = numbers[told["argument"]] if "argument" in told else told["value"]
    if not told["dtype"].startswith("f"):
        return int(value)
    return int.from_bytes(np.array(value, told["dtype"].replace("f", "float")).tobytes(), "little")


BINARIES = {
    "ptx": ("nvvm:sm_80", "cuda:emulated"),
    "opencl": ("spirv:opencl1.2", "opencl:0"),
    "vulkan": ("spirv:vulkan1.1", "vulkan:0"),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=[pytest.mark.slow] * (name not in QUICK or kind != "opencl"))
        for name in CASES
        for kind in BINARIES
    ],
)
def test_binaries_of_programs(name: str, kind: str) -> None:
    """Each kernel is a binary of its own; the manifest says what each launch takes, in order."""
    case, (target, device) = CASES[name], BINARIES[kind]
    need_device(device)
    form = "ptx" if kind == "ptx" else "spirv"
    if case.decides:
        with pytest.raises(pk.LaunchError, match=r"the host of `[a-z]+` has to"):
            pk.export(case.program, *described(case), form=form, target=target)
        return
    made = pk.export(case.program, *described(case), form=form, target=target)
    found = by_driver(made, device, list(case.given()))
    for got, wanted in zip(found, case.results(), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("form", ["ptx", "hsaco", "spirv"])
def test_binaries_are_files_beside_their_manifest(form: str, tmp_path: Path) -> None:
    if form == "hsaco":
        pytest.importorskip("llvmlite")
    ending = FORMS[form].ending
    made = pk.export(
        layer, pk.spec((8, 6), F), pk.spec((6, 5), F), form=form, to=tmp_path / f"layer.{ending}"
    )
    told = json.loads((tmp_path / f"layer.{ending}.json").read_text())
    assert told == made.manifest and "64-bit words" in told["numbers"]
    for symbol, kernel in told["kernels"].items():
        binary = (tmp_path / f"layer.{kernel['file']}").read_bytes()
        assert symbol.encode() in binary
        begins = {"ptx": b"//", "hsaco": b"\x7fELF", "spirv": b"\x03\x02\x23\x07"}[form]
        assert binary.lstrip().startswith(begins)
