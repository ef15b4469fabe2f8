"""SPIR-V for the tests of the Vulkan driver, written out in MLIR's spirv dialect: no compiler of ours in it.

Each kernel takes memory at bindings 0 to m - 1 and one buffer of 8-byte words at binding m.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import gpu
from mlir.passmanager import PassManager

from pykern.data.artifact import Artifact, DeviceCode

VCE = (
    "#spirv.vce<v1.3, [{capabilities}], "
    "[SPV_KHR_storage_buffer_storage_class, SPV_KHR_16bit_storage, SPV_KHR_8bit_storage]>"
)
CAPABILITIES = {
    "i8": "Int8, StorageBuffer8BitAccess",
    "i16": "Int16, StorageBuffer16BitAccess",
    "f16": "Float16, StorageBuffer16BitAccess",
    "f64": "Float64",
}
BYTES = {"i8": 1, "i16": 2, "f16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}


def serialized(body: str, capabilities: str, client: str = "Vulkan") -> bytes:
    """The binary of a spirv.module with this body."""
    vce = VCE.format(capabilities=", ".join(filter(None, ["Shader, Int64", capabilities])))
    text = f"""
    module attributes {{gpu.container_module}} {{
      gpu.module @kernels [#spirv.target_env<{vce}, api={client}, #spirv.resource_limits<>>] {{
        spirv.module Logical GLSL450 requires {vce} {{ {body} }}
      }}
    }}"""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        PassManager.parse("builtin.module(gpu-module-to-binary)").run(module.operation)
        binary = next(op for op in module.body.operations if op.operation.name == "gpu.binary")
        return gpu.ObjectAttr(binary.attributes["objects"][0]).object


def buffer(name: str, binding: int, dtype: str) -> str:
    array = f"!spirv.rtarray<{dtype}, stride={BYTES[dtype]}>"
    return (
        f"spirv.GlobalVariable @{name} bind(0, {binding}) "
        f": !spirv.ptr<!spirv.struct<({array} [0])>, StorageBuffer>\n"
    )


def place(result: str, name: str, index: str, dtype: str) -> str:
    """``%result`` = the address of element `index` (i64)."""
    array = f"!spirv.rtarray<{dtype}, stride={BYTES[dtype]}>"
    pointer = f"!spirv.ptr<!spirv.struct<({array} [0])>, StorageBuffer>"
    return (
        f"%{result}_base = spirv.mlir.addressof @{name} : {pointer}\n"
        f"%{result} = spirv.AccessChain %{result}_base[%zero, {index}] : {pointer}, i32, i64 "
        f"-> !spirv.ptr<{dtype}, StorageBuffer>\n"
    )


def words(count: int) -> str:
    """%w0, %w1, ...: the words."""
    lines = "%zero = spirv.Constant 0 : i32\n"
    for number in range(count):
        lines += f"%i{number} = spirv.Constant {number} : i64\n"
        lines += place(f"p{number}", "words", f"%i{number}", "i64")
        lines += f'%w{number} = spirv.Load "StorageBuffer" %p{number} : i64\n'
    return lines


def kernel(name: str, memories: list[str], count: int, body: str, size: int, first: int, limit: int) -> str:
    """A kernel whose work-item %i (from the number of the first group, word `first`) runs while below word `limit`."""
    globals_ = "".join(buffer(f"m{number}", number, dtype) for number, dtype in enumerate(memories))
    globals_ += buffer("words", len(memories), "i64")
    return f"""
    {globals_}
    spirv.GlobalVariable @item built_in("GlobalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
    spirv.func @{name}() "None" {{
      {words(count)}
      %item_p = spirv.mlir.addressof @item : !spirv.ptr<vector<3xi32>, Input>
      %item3 = spirv.Load "Input" %item_p : vector<3xi32>
      %item = spirv.CompositeExtract %item3[0 : i32] : vector<3xi32>
      %size = spirv.Constant {size} : i64
      %local = spirv.UConvert %item : i32 to i64
      %skipped = spirv.IMul %w{first}, %size : i64
      %i = spirv.IAdd %local, %skipped : i64
      %inside = spirv.SLessThan %i, %w{limit} : i64
      spirv.mlir.selection {{
        spirv.BranchConditional %inside, ^then, ^merge
      ^then:
        {body}
        spirv.Branch ^merge
      ^merge:
        spirv.mlir.merge
      }}
      spirv.Return
    }}
    spirv.EntryPoint "GLCompute" @{name}, @item
    spirv.ExecutionMode @{name} "LocalSize", {size}, 1, 1
    """


def artifact(name: str, binary: bytes, arguments: tuple[str, ...], size: int = 64, **device) -> Artifact:
    code = DeviceCode("spirv", arguments, offsets=True, **device)
    return Artifact(name, name, "spirv:vulkan1.2", name, binary, workgroup=(size,), device=code)


def axpy(dtype: str, size: int = 64) -> Artifact:
    """y[oy + i] += a * x[ox + i]; arguments: x, ox, y, oy, bits of a, n, first group."""
    floating = dtype.startswith("f")
    bits = 8 * BYTES[dtype]
    body = "%x_at = spirv.IAdd %w0, %i : i64\n%y_at = spirv.IAdd %w1, %i : i64\n"
    body += place("x_p", "m0", "%x_at", dtype) + place("y_p", "m1", "%y_at", dtype)
    body += (
        f'%x = spirv.Load "StorageBuffer" %x_p : {dtype}\n%y = spirv.Load "StorageBuffer" %y_p : {dtype}\n'
    )
    narrow = "%w2" if bits == 64 else "%narrow"
    if bits < 64:
        body += f"%narrow = spirv.UConvert %w2 : i64 to i{bits}\n"
    if floating:
        body += f"%a = spirv.Bitcast {narrow} : i{bits} to {dtype}\n"
    a = "%a" if floating else narrow
    multiply, add = ("FMul", "FAdd") if floating else ("IMul", "IAdd")
    body += f"%ax = spirv.{multiply} {a}, %x : {dtype}\n%sum = spirv.{add} %ax, %y : {dtype}\n"
    body += f'spirv.Store "StorageBuffer" %y_p, %sum : {dtype}\n'
    capabilities = [CAPABILITIES.get(dtype, "")]
    if dtype == "f16":
        capabilities.append("Int16")
    text = kernel("axpy", [dtype, dtype], 5, body, size, first=4, limit=3)
    arguments = ("memory", "slot", "memory", "slot", "slot", "slot", "slot")
    return artifact("axpy", serialized(text, ", ".join(filter(None, capabilities))), arguments, size)


def generator(size: int = 64) -> Artifact:
    """x[i] = 1664525 x[i] + 1013904223, `rounds` times (i32): takes as long as one wants.

    Arguments: x, offset, rounds, n, first group.
    """
    body = "%x_at = spirv.IAdd %w0, %i : i64\n" + place("x_p", "m0", "%x_at", "i32")
    body += """
      %one = spirv.Constant 1 : i64
      %none = spirv.Constant 0 : i64
      %factor = spirv.Constant 1664525 : i32
      %addend = spirv.Constant 1013904223 : i32
      %count = spirv.Variable : !spirv.ptr<i64, Function>
      %value = spirv.Variable : !spirv.ptr<i32, Function>
      spirv.Store "Function" %count, %none : i64
      %start = spirv.Load "StorageBuffer" %x_p : i32
      spirv.Store "Function" %value, %start : i32
      spirv.mlir.loop {
        spirv.Branch ^header
      ^header:
        %c = spirv.Load "Function" %count : i64
        %more = spirv.SLessThan %c, %w1 : i64
        spirv.BranchConditional %more, ^body, ^merge
      ^body:
        %v = spirv.Load "Function" %value : i32
        %v1 = spirv.IMul %v, %factor : i32
        %v2 = spirv.IAdd %v1, %addend : i32
        spirv.Store "Function" %value, %v2 : i32
        spirv.Branch ^continue
      ^continue:
        %c1 = spirv.Load "Function" %count : i64
        %c2 = spirv.IAdd %c1, %one : i64
        spirv.Store "Function" %count, %c2 : i64
        spirv.Branch ^header
      ^merge:
        spirv.mlir.merge
      }
      %end = spirv.Load "Function" %value : i32
      spirv.Store "StorageBuffer" %x_p, %end : i32
    """
    text = kernel("generator", ["i32"], 4, body, size, first=3, limit=2)
    return artifact("generator", serialized(text, ""), ("memory", "slot", "slot", "slot", "slot"), size)


def tally(size: int = 64) -> Artifact:
    """count[offset] += 1 atomically by each work-item. Arguments: count, offset, n, first group."""
    body = place("c_p", "m0", "%w0", "i32")
    body += "%one = spirv.Constant 1 : i32\n"
    body += "%old = spirv.AtomicIAdd <Device> <AcquireRelease> %c_p, %one : !spirv.ptr<i32, StorageBuffer>\n"
    text = kernel("tally", ["i32"], 3, body, size, first=2, limit=1)
    return artifact("tally", serialized(text, ""), ("memory", "slot", "slot", "slot"), size)
