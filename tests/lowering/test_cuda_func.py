"""Users' own CUDA C++ in kernels: compiled by NVRTC, linked by nvJitLink, both without a GPU."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

import pykern as pk
from pykern.api.cuda_function import parsed
from pykern.compiler.versions import versions
from pykern.data.source import cuda_functions
from pykern.environment.installation import install_extra
from pykern.errors import KernelTypeError, NotDifferentiable, TargetError

TARGET = "nvvm:sm_90a"
X, N = pk.spec("n", pk.f32), {"ndrange": "n", "target": TARGET}

mixed = pk.cuda_func(
    """
    __device__ float mixed(float x, float y) {
        return x * x + 17.25f * y;
    }
    """,
    "f32(f32, f32)",
)
several = """
namespace space {
template <class T> __device__ T twice(T x) { return x + x; }
}
__device__ unsigned char narrow(signed char a, short b, unsigned short c, bool d) { return d ? a + b : c; }
__device__ long long wide(long long a, unsigned long long b, double c) { return a + (long long)b + (long long)c; }
__device__ void scatter(float *x, const double *y, long long i) { atomicAdd(x + i, (float)y[i]); }
"""
twice = pk.cuda_func(several, "f64(f64)", name="space::twice<double>")
narrow = pk.cuda_func(several, "u8(i8, i16, u16, bool)", name="narrow")
wide = pk.cuda_func(several, "i64(i64, u64, f64)", name="wide")
scatter = pk.cuda_func(several, "void(f32[:], f64[:], i64)", name="scatter")


def lowered(kernel, *specs, **launch):
    return kernel.lower(*specs, **(N | launch))


def ptx(found) -> str:
    """What goes to the linker: the users' functions and the kernel's own text."""
    return "\n".join(stage.text for stage in found.stages if stage.kind == "asm")


def test_a_function_is_linked_into_the_kernel():
    @pk.kernel
    def k(y, x):
        i = pk.index()
        y[i] = mixed(x[i], 2.0) + mixed(1, x[i])

    found = lowered(k, X, X)
    artifact = found.compile().artifact
    symbol = mixed.captured.symbol
    assert artifact.device.format == "cubin" and artifact.binary[:4] == b"\x7fELF"
    assert f".text.{symbol}".encode() in artifact.binary and b".text.kern_k" in artifact.binary
    assert 0 < artifact.resources["registers"] <= 64 and artifact.resources["spill_bytes"] == 0
    text = ptx(found)
    assert re.search(rf"\.visible \.func +\(\.param \.b32 func_retval0\) {symbol}\(", text)
    assert len(re.findall(rf"call(?:\.uni)?[^;]*\b{symbol}\b", text)) == 2
    assert "0f418A0000" in text  # 17.25: the user's own code
    assert [stage.name for stage in found.stages][-1] == "nvjitlink"


def test_types_templates_and_pointers():
    @pk.kernel
    def k(a, b, c, x, y):
        i = pk.index()
        a[i] = narrow(a[i], 3, 7, x[i] > 0)
        b[i] = wide(b[i], 5, y[i])
        scatter(x, y, i)
        y[i] = twice(y[i])

    specs = [pk.spec("n", t) for t in (pk.i8, pk.i64, pk.u64, pk.f32, pk.f64)]
    found = lowered(k, *specs)
    artifact = found.compile().artifact
    for function in (twice, narrow, wide, scatter):
        assert f".text.{function.captured.symbol}".encode() in artifact.binary
    assert [(use.reads, use.writes) for use in artifact.uses] == [
        (True, True), (True, True), (False, False), (True, True), (True, True),
    ]  # fmt: skip


def test_shared_memory_is_passed_by_its_generic_address():
    first = pk.cuda_func("__device__ float first(const float *x) { return *x; }", "f32(f32[:])")

    @pk.kernel(workgroup=32)
    def k(x):
        s = pk.shared((32,), pk.f32)
        s[pk.local_index()] = x[pk.index()]
        pk.barrier()
        x[pk.index()] = first(s)

    found = lowered(k, X)
    found.compile()
    assert re.search(r"cvta\.shared\.u64", ptx(found))


@pytest.mark.parametrize("target", ["llvm", "spirv:opencl3.0", "spirv:vulkan1.2", "rocdl:gfx90a", "linalg"])
def test_other_targets_say_what_to_do(target):
    @pk.kernel
    def k(x):
        i = pk.index()
        x[i] = mixed(x[i], x[i])

    with pytest.raises(TargetError, match="CUDA C\\+\\+") as caught:
        k.lower(X, ndrange="n", target=target).compile()
    assert caught.value.span.line == k.text.first_line + 2 and caught.value.span.file == __file__
    assert "@pk.func" in str(caught.value)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_launches_elsewhere_say_what_to_do(device):
    @pk.kernel
    def k(x):
        i = pk.index()
        x[i] = mixed(x[i], x[i])

    with pytest.raises(TargetError, match="CUDA C\\+\\+"):
        k(np.ones(4, np.float32), ndrange=4, device=device)


def _with(text, signature, **keywords):
    function = pk.cuda_func(text, signature, **keywords)

    @pk.kernel
    def k(x):
        i = pk.index()
        x[i] = function(x[i])

    return k


def test_what_nvrtc_says_is_told_at_the_call_and_at_the_text():
    function = pk.cuda_func(
        """__device__ float broken(float x) {
        return x * undefined_name;
    }""",
        "f32(f32)",
    )

    @pk.kernel
    def k(x):
        i = pk.index()
        x[i] = function(x[i])

    with pytest.raises(TargetError, match='identifier "undefined_name" is undefined') as caught:
        lowered(k, X).compile()
    error = caught.value
    assert error.span.line == k.text.first_line + 2
    (_, place), (log, _) = error.extra_notes
    with open(__file__) as file:
        assert "undefined_name;" in file.read().splitlines()[place.line - 1]
    assert "NVRTC says" in log and "1 error detected" in log


def test_a_signature_that_does_not_fit():
    k = _with("__device__ float f(float *x) { return *x; }", "f32(f32)")
    with pytest.raises(TargetError, match=r"signature f32 f\(f32\) does not fit"):
        lowered(k, X).compile()


def test_arguments_are_checked():
    @pk.kernel
    def strong(x, y):
        i = pk.index()
        x[i] = mixed(y[i], x[i])

    with pytest.raises(KernelTypeError, match="argument 1 of `mixed` is f32, not f64") as caught:
        lowered(strong, X, pk.spec("n", pk.f64))
    assert caught.value.span.line == strong.text.first_line + 2

    @pk.kernel
    def number(x):
        i = pk.index()
        x[i] = mixed(x[i])

    with pytest.raises(KernelTypeError, match="takes 2 arguments"):
        lowered(number, X)

    @pk.kernel
    def fraction(x):
        scatter(x, x, 0.5)

    with pytest.raises(KernelTypeError, match=r"argument 2 of `scatter` is f64\[:\], not array `x`: f32"):
        lowered(fraction, X)


@pytest.mark.parametrize(
    ("signature", "said"),
    [("f32", "write it as"), ("f16(f32)", "pass f32"), ("f32(bf16)", "pass f32"), ("float(f32)", "no type"),
     ("f32(f32 x)", "no type"), ("f32(f32,)", "no type")],
)  # fmt: skip
def test_signatures_are_read(signature, said):
    with pytest.raises(KernelTypeError, match=said):
        pk.cuda_func("__device__ float f(float x) { return x; }", signature)


def test_a_signature():
    assert parsed(" f32 ( f32[:, :], bf16[:] , i64)") == ("f32", ("f32[::]", "bf16[:]", "i64"))
    assert parsed("void()") == ("void", ())


def test_a_name_is_asked_for_where_there_are_several():
    with pytest.raises(KernelTypeError, match="twice, narrow, wide, scatter"):
        pk.cuda_func(several, "f32(f32)")


def test_text_signature_and_toolkit_are_in_the_key():
    text = "__device__ float f(float x) { return x * 2; }"
    sources = {}
    for name, (given, signature) in {
        "one": (text, "f32(f32)"), "text": (text.replace("2", "3"), "f32(f32)"), "types": (text, "f64(f32)")
    }.items():  # fmt: skip
        sources[name] = lowered(_with(given, signature), X).source
        (function,) = cuda_functions(sources[name]).values()
        assert (
            "nvidia-cuda-nvrtc-cu12 12" in function.toolkit and "nvidia-nvjitlink-cu12 12" in function.toolkit
        )
    assert len({source.key(versions()) for source in sources.values()}) == 3


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_derivatives_are_refused(mode):
    square = pk.cuda_func(
        "__device__ float square(const float *x, int i) { return x[i] * x[i]; }", "f32(f32[:], i32)"
    )

    @pk.kernel
    def k(y, x):
        i = pk.index()
        y[i] = square(x, pk.i32(i)) * x[i]

    derivative = pk.autodiff(k, mode=mode)
    with pytest.raises(NotDifferentiable, match="`square` is CUDA C\\+\\+") as caught:
        derivative.lower(pk.Dup(X, X), pk.Dup(X, X), **N)
    assert caught.value.span.line == k.text.first_line + 2


@pytest.mark.parametrize("module", ["nvrtc", "nvjitlink"])
def test_a_missing_package_is_named(module, monkeypatch):
    monkeypatch.setenv("PYKERN_COMPILER", "inprocess")
    monkeypatch.setitem(sys.modules, f"cuda.bindings.{module}", None)
    import cuda.bindings

    monkeypatch.delattr(cuda.bindings, module, raising=False)
    from pykern.lowering.nvvm import user_code

    with pytest.raises(TargetError, match="needs the package") as caught:
        user_code._library(module, None)
    assert install_extra("cuda", *user_code.NEEDED) in str(caught.value)


def test_it_is_called_in_kernels_only():
    with pytest.raises(TargetError, match="outside of a kernel"):
        mixed(1.0, 2.0)
