"""Runs printed source: OpenCL C by an OpenCL driver, WGSL by wgpu, MSL as C++ on the host, CUDA C++ by the emulator.

Words are packed by the types of the text. Comes in: the cases, each a kernel with its arguments and launch. Goes out:
the arrays afterwards (`results`). They run in a process of their own: a driver that has compiled in this one may
leave it in a state that other tests meet.
"""

from __future__ import annotations

import ctypes
import functools
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.lowering import cuda_runs
from tests.lowering.source_cases import CASES
from tests.project.tree import ROOT

C_TYPES = {
    "bool": np.uint8, "char": np.int8, "short": np.int16, "int": np.int32, "long": np.int64, "half": np.float16,
    "float": np.float32,
    "double": np.float64, "i32": np.int32, "f32": np.float32, "f16": np.float32,
    "vec2": np.int64, "u32": np.uint32,
}  # fmt: skip


def words_of(arguments: tuple[Any, ...], ndrange: tuple[int, ...]) -> list[Any]:
    """The numbers of a launch in order: lengths of arrays, scalars, counts."""
    words: list[Any] = []
    for each in arguments:
        words += list(each.shape) if isinstance(each, np.ndarray) else [each]
        if isinstance(each, np.ndarray) and each.dtype.kind == "c":
            words.append(2)  # the real part and the imaginary one
    return [*words, *ndrange]


def groups_of(ndrange: tuple[int, ...], workgroup: tuple[int, ...]) -> tuple[int, ...]:
    """How many groups along x, y, z: the last dimension is x."""
    counts = [-(-n // size) for n, size in zip(ndrange, workgroup, strict=True)]
    return (*reversed(counts), 1, 1)[:3]


def lowered(kernel: Any, arguments: tuple[Any, ...], ndrange: tuple[int, ...], target: str) -> Any:

    return kernel.lower(*arguments, ndrange=ndrange, target=target).compile()


@functools.cache
def opencl_queue() -> Any:
    import pyopencl as cl

    from pykern.runtime.drivers.opencl import RUNTIME

    context = cl.Context([RUNTIME.native(0)])
    return context, cl.CommandQueue(context)


def run_opencl_c(kernel: Any, arguments: tuple[Any, ...], ndrange: tuple[int, ...]) -> list[np.ndarray]:
    import pyopencl as cl

    context, queue = opencl_queue()
    made = lowered(kernel, arguments, ndrange, "opencl-c")
    text = made.binary.decode()
    warnings.simplefilter("ignore", cl.CompilerWarning)
    program = cl.Program(context, text).build(
        options=["-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt"], cache_dir=False
    )
    types = re.findall(r"^ {4}(\w+) (?:\w+ )*\*?\w+,?$", text[: text.index(") {")], re.MULTILINE)
    words = iter(words_of(arguments, ndrange))
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    flags = cl.mem_flags
    buffers = [
        cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=np.ascontiguousarray(a))
        for a in arrays
    ]
    run = cl.Kernel(program, made.artifact.entry)
    groups, size = groups_of(ndrange, made.artifact.workgroup), (*reversed(made.artifact.workgroup), 1, 1)[:3]
    rest = iter(buffers)
    passed = [next(rest) if t == "__global" else C_TYPES[t](next(words)) for t in types]
    run(queue, tuple(g * s for g, s in zip(groups, size, strict=True)), size, *passed)
    results = [np.empty_like(a) for a in arrays]
    for result, buffer in zip(results, buffers, strict=True):
        cl.enqueue_copy(queue, result, buffer)
    return results


@functools.cache
def webgpu_device() -> Any:
    import wgpu

    return wgpu.gpu.request_adapter_sync().request_device_sync()  # without any feature


def run_wgsl(kernel: Any, arguments: tuple[Any, ...], ndrange: tuple[int, ...]) -> list[np.ndarray]:
    import wgpu

    device, usage = webgpu_device(), wgpu.BufferUsage
    made = lowered(kernel, arguments, ndrange, "wgsl")
    text = made.binary.decode()
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    struct = re.search(r"struct Words \{(.*?)\}", text, re.DOTALL)
    types = re.findall(r": (\w+)(?:<u32>)?,", struct[1]) if struct else []
    packed = b""
    for kind, word in zip(types, words_of(arguments, ndrange), strict=False):
        packed += b"\0" * (-len(packed) % C_TYPES[kind]().itemsize) + C_TYPES[kind](word).tobytes()
    raw = [np.ascontiguousarray(a).tobytes() for a in arrays]
    buffers = [
        device.create_buffer_with_data(
            data=r + b"\0" * (-len(r) % 4 or (4 if not r else 0)), usage=usage.STORAGE | usage.COPY_SRC
        )
        for r in raw
    ]
    if struct:
        buffers.append(
            device.create_buffer_with_data(
                data=packed + b"\0" * (16 + -len(packed) % 16), usage=usage.UNIFORM
            )
        )
    kinds = [
        "storage" if access == "read_write" else "read-only-storage"
        for access in re.findall(r"var<storage, (\w+)>", text)
    ]
    kinds += ["uniform"] * (struct is not None)
    layout = device.create_bind_group_layout(
        entries=[
            {"binding": n, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": k}}
            for n, k in enumerate(kinds)
        ]
    )
    pipeline = device.create_compute_pipeline(
        layout=device.create_pipeline_layout(bind_group_layouts=[layout]),
        compute={"module": device.create_shader_module(code=text), "entry_point": made.artifact.entry},
    )
    bound = device.create_bind_group(
        layout=layout, entries=[{"binding": n, "resource": {"buffer": b}} for n, b in enumerate(buffers)]
    )
    encoder = device.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, bound)
    compute.dispatch_workgroups(*groups_of(ndrange, made.artifact.workgroup))
    compute.end()
    device.queue.submit([encoder.finish()])
    return [
        np.frombuffer(device.queue.read_buffer(buffer), a.dtype)[: a.size].reshape(a.shape)
        for buffer, a in zip(buffers, arrays, strict=False)
    ]


def c_compiler() -> str | None:
    """A compiler of C, where there is one."""
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


C_FLAGS = ("-std=c11", "-O2", "-fopenmp", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")


def compiled_c(text: str, name: str, flags: tuple[str, ...] = C_FLAGS) -> ctypes.CDLL:
    """A library of a text in C. What a compiler warns of is wrong."""
    compiler = c_compiler()
    assert compiler is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.c"
        path.write_text(text)
        library = path.with_suffix(".so")
        ignored = ("-Wno-unused-parameter", "-Wno-unknown-pragmas")  # GCC does not know FP_CONTRACT
        command = [compiler, *flags, *ignored, "-shared", "-fPIC", "-o", str(library), str(path), "-lm"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        assert made.returncode == 0, f"{made.stderr}\n{text}"
        return ctypes.CDLL(str(library))


def run_c(kernel: Any, arguments: tuple[Any, ...], ndrange: tuple[int, ...]) -> list[np.ndarray]:
    made = lowered(kernel, arguments, ndrange, "c")
    text = made.binary.decode()
    function = getattr(compiled_c(text, made.artifact.entry), made.artifact.entry)
    head = text[text.index(f"void {made.artifact.entry}(") : text.index(") {", text.index("void "))]
    arrays = iter([a.copy() for a in arguments if isinstance(a, np.ndarray)])
    kept: list[np.ndarray] = []
    words = iter(words_of(arguments, ndrange))
    passed: list[Any] = []
    for kind, star, _ in re.findall(r"^ {4}(?:const )?(\w+) (\*?)(?:restrict )?(\w+),?$", head, re.MULTILINE):
        if star:
            kept.append(next(arrays))
            passed.append(ctypes.c_void_p(kept[-1].ctypes.data))
        else:
            passed.append(C_NUMBERS[kind](next(words)))
    function(*passed)
    return kept


C_NUMBERS = {
    "bool": ctypes.c_bool, "int8_t": ctypes.c_int8, "int16_t": ctypes.c_int16, "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64, "float": ctypes.c_float, "double": ctypes.c_double,
}  # fmt: skip


def run_msl(kernel: Any, arguments: tuple[Any, ...], ndrange: tuple[int, ...]) -> list[np.ndarray]:
    """On the host, over what stands for Metal's library."""
    from pykern.runtime.metal_emulator.compile import compiled

    made = lowered(kernel, arguments, ndrange, "msl")
    text = made.binary.decode()
    struct = re.search(r"struct Words \{(.*?)\}", text, re.DOTALL)
    types = re.findall(r"^ {4}(\w+) \w+;", struct[1], re.MULTILINE) if struct else []
    packed = b""
    for kind, word in zip(types, words_of(arguments, ndrange), strict=False):
        number = C_TYPES[kind](word)
        packed += b"\0" * (-len(packed) % number.itemsize) + number.tobytes()
    copies = [a.copy() for a in arguments if isinstance(a, np.ndarray)]
    words = np.frombuffer(packed + bytes(8), np.uint8)
    size = (*reversed(made.artifact.workgroup), 1, 1)[:3]
    places = [a.ctypes.data for a in (*copies, words)]
    result = compiled(text).run(
        made.artifact.entry, places, [], groups_of(ndrange, made.artifact.workgroup), size
    )
    assert result == 0
    return copies


def run_cuda(kernel: Any, arguments: tuple[Any, ...], ndrange: tuple[int, ...]) -> list[Any]:
    """By the emulator; None where the text needs a header that is not there."""
    made = lowered(kernel, arguments, ndrange, "cuda-cpp")
    text = made.binary.decode()
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    if cuda_runs.lacks_headers(text):
        return [None for _ in arrays]
    size = (*reversed(made.artifact.workgroup), 1, 1)[:3]
    groups = groups_of(ndrange, made.artifact.workgroup)
    return cuda_runs.launched(text, made.artifact.entry, arrays, words_of(arguments, ndrange), groups, size)


RUNS = {"c": run_c, "opencl-c": run_opencl_c, "wgsl": run_wgsl, "msl": run_msl, "cuda-cpp": run_cuda}


@functools.cache
def results(language: str) -> dict[str, Any]:
    """The first array of each case afterwards, or what was raised."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results"
        command = [sys.executable, "-m", "tests.lowering.source_runs", language, str(path)]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
        assert run.returncode == 0, run.stderr[-3000:]
        return pickle.loads(path.read_bytes())


def main(language: str, path: str) -> None:
    found: dict[str, Any] = {}
    for name, case in CASES.items():
        found[name] = RUNS[language](case.kernel, case.given(), case.ndrange)[0]
    Path(path).write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
