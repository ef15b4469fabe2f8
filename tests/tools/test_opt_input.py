"""``pykern-opt`` on what is no MLIR, or MLIR that makes no sense: a message and an exit status, nothing that dies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.warm_tools import ALONE, opt

WRONG_INPUT, USAGE, CRASHED = 1, 2, 4
EMPTY = "module {\n}\n"


def run(*arguments: str, data: bytes = b"") -> tuple[int, str, str]:
    done = subprocess.run([*opt(), *arguments], input=data, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def refused(status: int, expected: str, *arguments: str, data: bytes = b"") -> None:
    code, _, errors = run(*arguments, data=data)
    assert (code, "Traceback" in errors) == (status, False), errors
    assert expected in errors


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"module {\n\xff}", "standard input:2:1: error: not UTF-8 text (byte 0xff)"),
        (b"ML\xefR\x0d\x01", "this is MLIR bytecode"),
        (b"module {}\0", "standard input:1:10: error: a NUL character"),
        (
            b'"foo.bar"() : () -> ()',
            "-:1:10: error: operation being parsed with an unregistered dialect: MLIR's own",
        ),
        (b"func.func @f(", "-:1:13: error: "),
        (b"func.func @f() attributes {kern.kernel, kern.rank = -1 : i64} {\n  return\n}", "-:1:1: error: "),
        (
            b'func.func @f() {\n  %0 = "kern.global_id"() {dim = -1} : () -> index\n  return\n}',
            "-:2:8: error: ",
        ),
        (b"func.func @f() attributes {a = 9999999999999999999999 : i8} {\n  return\n}", "out of range"),
    ],
)
def test_wrong_input_is_a_located_message(data: bytes, expected: str) -> None:
    refused(WRONG_INPUT, expected, data=data)


def test_a_byte_order_mark_and_line_ends_of_windows() -> None:
    assert run(data="\ufeffmodule {\r\n}\r\n".encode()) == (0, EMPTY, "")
    assert run() == (0, EMPTY, "")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    refused(USAGE, "error: No such file", str(tmp_path / "none"))
    refused(USAGE, "error: Is a directory", str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--no-such-pass"], "no pass `no-such-pass`"),
        (["-q"], "neither a file nor a flag"),
        (["--kern-expand-ndrange=subgroup-size=x"], "`subgroup-size=x` is no integer"),
        (["--kern-expand-ndrange=subgroup-size=-1"], "`subgroup-size=-1` is not in 0.."),
        (["--kern-expand-ndrange=subgroup-size=0"], "`subgroup-size=0` is no power of two"),
        (["--kern-expand-ndrange=subgroup-size=12"], "`subgroup-size=12` is no power of two"),
        (["--pass-pipeline=kern-vectorize-streams{bytes=24}"], "`bytes=24` is no power of two"),
        (["--kern-reverse-kernel=active=a,b"], "is no list of integers"),
        (["--kern-reuse-loads=stores=maybe"], "is neither true nor false"),
        (["--kern-expand-ndrange=size=4"], "has no option `size`"),
        (["--pass-pipeline=builtin.module(canonicalize"], "a bracket is not closed"),
        (["--pass-pipeline=canonicalize{max-iterations=x}"], "pipeline `canonicalize"),
        (["--pass-pipeline=func.func(no-such-pass)"], "'no-such-pass' does not refer to a registered pass"),
        (["--target=z80"], "no target `z80`"),
        (["--target=llvm:foo"], "no target `llvm:foo`"),
        (["--target=nvvm:sm_x"], "did you mean nvvm:sm_90"),
        (["--target"], "expected one argument"),
    ],
)
def test_wrong_options_are_usage(arguments: list[str], expected: str) -> None:
    refused(USAGE, expected, *arguments)


def nested(kind: str, depth: int) -> bytes:
    texts = {
        "regions": "func.func @f(%c: i1) {\n" + "scf.if %c {\n" * depth + "}\n" * depth + "return\n}",
        "types": "func.func @f(%c: " + "tuple<" * depth + "i32" + ">" * depth + ") {\nreturn\n}",
        "attributes": "module attributes {builtin.a = " + "[" * depth + "]" * depth + "} {}",
        "signs": "module attributes {builtin.a = affine_map<(d) -> (" + "-" * depth + "d)>} {}",
        "aliases": "!a0 = i32\n"
        + "".join(f"!a{n} = tuple<!a{n - 1}>\n" for n in range(1, depth))
        + f"func.func @f(%x: !a{depth - 1}) {{\nreturn\n}}",
    }
    return texts[kind].encode()


@pytest.mark.parametrize("kind", ["regions", "types", "attributes", "signs", "aliases"])
def test_deep_nesting_is_followed_or_refused(kind: str) -> None:
    code, _, errors = run("--canonicalize", "--kern-expand-ndrange", data=nested(kind, 2_000))
    assert (code, errors) == (0, "")
    if kind in ("regions", "types", "attributes"):
        refused(WRONG_INPUT, "more than 5000 brackets within each other", data=nested(kind, 20_000))
    else:
        assert run(data=nested(kind, 20_000))[0] == 0


def test_one_bad_part_of_several() -> None:
    code, printed, errors = run("--split-input-file", data=b"module {}\n// -----\nfoo\n// -----\nmodule {}")
    assert code == WRONG_INPUT
    assert printed.count("module {") == 2
    assert "-:3:1: error: " in errors


PUSHES = b"""func.func @f(%m: memref<4xf32>, %i: index) attributes {kern.kernel, kern.rank = 1 : i64} {
  %x = memref.load %m[%i] : memref<4xf32>
  "kern.push"(%x) : (f32) -> ()
  return
}"""
ATOMIC = b"""func.func @f(%m: memref<4x4xf32>, %i: index, %x: f32) attributes {kern.kernel, kern.rank = 1 : i64} {
  %0 = "kern.atomic_rmw"(%x, %m, %i, %i) {kind = "add"} : (f32, memref<4x4xf32>, index, index) -> f32
  return
}"""
ALLOC = b"""func.func @f(%i: index, %x: f32) attributes {kern.kernel, kern.workgroup = array<i64: 4>} {
  %m = memref.alloca() : memref<4xf32>
  memref.store %x, %m[%i] : memref<4xf32>
  return
}"""
GPU = b"""gpu.module @m {
  gpu.func @f() kernel {
    gpu.return
  }
}"""
ASSERTS = b"""func.func @f(%ok: i1) attributes {kern.kernel, kern.rank = 1 : i64} {
  "kern.assert"(%ok) {message = "", site = 0} : (i1) -> ()
  return
}"""
PLAIN = b"func.func @f() attributes {kern.kernel} {\n  return\n}"


@pytest.mark.parametrize(
    ("flag", "data", "expected"),
    [
        ("--kern-expand-ndrange", PLAIN, "-:1:1: error: a kernel needs `kern.rank`"),
        ("--kern-outline-kernels", PLAIN, "-:1:1: error: this pass takes kernels with `kern.workgroup`"),
        ("--kern-check-limits", PLAIN, "this pass takes kernels with `kern.workgroup`"),
        (
            "--kern-lower-device-tapes",
            PUSHES,
            "this pass takes kernels with a buffer marked `kern.tape_state`",
        ),
        ("--kern-lower-spirv-memory", ATOMIC, "-:2:8: error: this pass takes atomics on flat arrays"),
        (
            "--kern-lower-reports",
            ASSERTS,
            "-:1:1: error: this pass takes kernels whose last argument is the address",
        ),
        (
            "--kern-lower-device-reports",
            ASSERTS.replace(b", site = 0", b""),
            "`kern.assert` has no number yet",
        ),
        ("--kern-forward-kernel=active=8", PLAIN, "-:1:1: error: the kernel has 0 arguments"),
        ("--kern-mark-entry-points", GPU, "-:2:3: error: this pass takes kernels with a known block size"),
        ("--kern-lower-to-pointers", ALLOC, "this pass takes kernels with flat arrays alone"),
    ],
)
def test_a_pass_that_comes_too_early_says_what_it_takes(flag: str, data: bytes, expected: str) -> None:
    refused(WRONG_INPUT, expected, flag, data=data)


@pytest.mark.parametrize("flag", ["--kern-finish-spirv", "--kern-plan-memory", "--kern-lower-launches"])
def test_passes_of_other_stages_leave_a_module_alone(flag: str) -> None:
    """No SPIR-V, no buffers, no launches, and no attributes of arguments: nothing is to be done."""
    code, _, errors = run(flag, data=b"func.func @f(%x: f32) attributes {kern.program} {\n  return\n}")
    assert (code, errors) == (0, "")


DIES = "import os, signal\ndef work(arguments=()): os.kill(os.getpid(), signal.SIGSEGV)\n"
FAILS = "def work(arguments=()): return {}['key']\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize("has_fork", [True, False])
@pytest.mark.parametrize(
    ("work", "told"),
    [(DIES, "the compiler died of Segmentation fault"), (FAILS, "the tool failed with KeyError: 'key' (")],
)
def test_what_dies_in_a_child_becomes_a_message(work: str, told: str, has_fork: bool, tmp_path: Path) -> None:
    (tmp_path / "worker.py").write_text(work)
    program = (
        "import os, sys; sys.path.insert(0, os.getcwd()); os.environ['PYTHONPATH'] = os.getcwd()\n"
        "from pykern.tools.guarded import guarded; import worker\n"
        f"{'' if has_fork else 'del os.fork'}\n"
        "raise SystemExit(guarded('pykern-opt', worker.work, 'worker:work', ['x']))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == CRASHED
    assert f"pykern-opt: error: {told}" in done.stderr and "Traceback" not in done.stderr


def test_the_tool_works_where_there_is_no_fork(capfd: pytest.CaptureFixture[str], tmp_path: Path,
                                               monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    from pykern.tools import opt

    monkeypatch.delattr("os.fork")
    (tmp_path / "good.mlir").write_text("module {}")
    (tmp_path / "bad.mlir").write_text("module {")
    assert opt.main([str(tmp_path / "good.mlir"), "--canonicalize"]) == 0
    assert capfd.readouterr().out == EMPTY
    assert opt.main([str(tmp_path / "bad.mlir")]) == WRONG_INPUT
    assert "bad.mlir:1:" in capfd.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_output_that_cannot_be_written() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(ALONE, input=b"", stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == WRONG_INPUT
    assert b"the output cannot be written" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_reader_that_is_gone() -> None:
    with subprocess.Popen(
        ALONE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
