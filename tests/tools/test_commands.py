"""``pykern`` and ``pykern-opt`` as a user types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pykern
import pykern as pk
from pykern import errors
from pykern.lowering.nvvm.disassembly import disassembler as nvdisasm
from pykern.lowering.nvvm.ptxas import ptxas
from pykern.lowering.spirv.disassembly import disassembler as spirv_dis
from pykern.testing.lit import llvm_tools
from pykern.tools.command_line import COMMANDS
from tests.tools import warm_tools
from tests.tools.kernels_for_tools import saxpy

SPECS = (*(pk.spec((64,), pk.f32),) * 3, pk.f32)


@pk.jit
def program(x):
    return x + 1


KERNELS = Path(__file__).with_name("kernels_for_tools.py")
MODULE = """
func.func @f(%x: memref<?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %x[%i] : memref<?xf32>
  return
}
"""


def run(tool: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    start, variables = {"opt": warm_tools.opt, "cli": warm_tools.cli}[tool](), warm_tools.in_place()
    return subprocess.run(
        [*start, *arguments], input=stdin, capture_output=True, text=True, timeout=120, env=variables
    )


def test_compile_lists_stages_with_times() -> None:
    done = run("cli", "compile", f"{KERNELS}::saxpy", "--args", "f32[?] f32[?] f32[?] f32", "--ndrange", "?")
    assert done.returncode == 0, done.stderr
    assert "kern-expand-ndrange" in done.stdout
    assert " ms " in done.stdout


def test_compile_prints_a_stage_a_diff_and_assembly() -> None:
    call = ("compile", f"{KERNELS}::saxpy", "--args", "f32[?] f32[?] f32[?] f32", "--ndrange", "?")
    assert '"kern.global_id"' in run("cli", *call, "--stage", "kern").stdout
    assert "+++ kern-expand-ndrange" in run("cli", *call, "--diff", "kern", "kern-expand-ndrange").stdout
    assert "pk_run:" in run("cli", *call, "--asm").stdout


def test_what_the_users_file_prints_is_not_mixed_in(tmp_path: Path) -> None:
    file = tmp_path / "printing.py"
    file.write_text(KERNELS.read_text() + '\nprint("from the file")\n')
    done = run(
        "cli",
        "compile",
        f"{file}::saxpy",
        "--args",
        "f32[?] f32[?] f32[?] f32",
        "--ndrange",
        "?",
        "--stage",
        "kern",
    )
    assert done.stdout.startswith("module {")
    assert "from the file" in done.stderr


def test_a_reader_that_has_seen_enough() -> None:
    command = f"{sys.executable} -m pykern.tools.cli --help; {sys.executable} -m pykern.tools.cli devices | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr


def test_compile_json_and_binary(tmp_path: Path) -> None:
    out = tmp_path / "saxpy.so"
    call = (
        "compile",
        f"{KERNELS}::saxpy",
        "--args",
        "f32[?] f32[?] f32[?] f32",
        "--ndrange",
        "64",
        "-o",
        str(out),
    )
    described = json.loads(run("cli", *call, "--json").stdout)
    assert described["kernel"] == "saxpy"
    assert described["stages"][0]["name"] == "kern"
    assert out.read_bytes()[:4] == b"\x7fELF"


@pytest.mark.parametrize(
    ("kernel", "args", "code", "said"),
    [
        ("nothing.py::k", "f32", 2, "there is no file `nothing.py`"),
        (f"{KERNELS}", "f32", 1, f"there are {KERNELS}::saxpy"),
        (f"{KERNELS}::nothing", "f32", 1, "has no kernel `nothing`"),
        (f"{KERNELS}::saxpy", "f32[?]", 1, "gives 1 type for 4 parameters"),
        (f"{KERNELS}::saxpy", "f32[?] f32[?] f32[?] f33", 1, "`f33` is no type"),
        (f"{KERNELS}::saxpy", "", 1, "say the types of its arguments"),
    ],
)
def test_compile_refuses(kernel: str, args: str, code: int, said: str) -> None:
    done = run("cli", "compile", kernel, "--args", args, "--ndrange", "4")
    assert done.returncode == code
    assert said in done.stderr


TYPES = "f32[?] f32[?] f32[?] f32"


@pytest.mark.parametrize(
    "types",
    [
        "f32[?],f32[?],f32[?],f32", "f32[?], f32[?], f32[?], f32", "float32[?] np.float32[?] pk.f32[:] float32",
        "f32[ ? ] f32[?] f32[?] f32",
    ],
)  # fmt: skip
def test_types_as_people_write_them(types: str) -> None:
    def kern(types: str) -> str:
        done = run(
            "cli", "compile", f"{KERNELS}::saxpy", "--args", types, "--ndrange", "?", "--stage", "kern"
        )
        return done.stdout or done.stderr

    assert kern(types) == kern(TYPES) != ""


STATIC = """import pykern as pk

@pk.kernel
def power(y, x, n: pk.static):
    i = pk.index()
    y[i] = x[i] ** n

@pk.kernel
def copy(m, x):
    i, j = pk.index()
    m[i, j] = x[i]

@pk.jit
def scaled(x, how: pk.static):
    return x * 2 if how == "double" else x
"""


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("power", "--args", "f32[?] f32[?] 3", "--ndrange", "?", "--stage", "kern"), 0, "arith.mulf"),
        (("power", "--args", "f32[?] f32[?] int", "--ndrange", "?"), 1, "`n` is pk.static, and known when compiling"),
        (("power",), 1, '--args "f32[?] f32[?] 3" --ndrange "?"'),
        (("power", "--ndrange", "?"), 1, 'as in --args "f32[?] f32[?] 3"\n'),
        (("copy",), 1, '--args "f32[?,?] f32[?]" --ndrange "?,?"'),
        (("copy", "--args", "f32[?,?] f32[?]"), 1, 'as in --ndrange "?,?"\n'),
        (("copy", "--args", "f32[?,?] f32[?]", "--ndrange", "?"), 1, "or launch over 2: ndrange=(n, m)"),
        (("scaled",), 1, '--args "f32[64] 3"\n'),
        (("scaled", "--args", "f32[64] 'double'", "--stage", "program"), 0, "2.0"),
        (("scaled", "--args", "f32[64] 'other'", "--stage", "program"), 0, "return"),
    ],
)  # fmt: skip
def test_what_a_command_has_to_know(arguments: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text(STATIC)
    done = run("cli", "compile", f"{file}::{arguments[0]}", *arguments[1:])
    assert done.returncode == code and said in (done.stderr if code else done.stdout), done.stderr
    assert "PK009" not in done.stderr, "its help says more than that page"


@pytest.mark.parametrize("written", ["some::power", "some.py:power", "some:power", "some.power"])
def test_a_kernel_named_otherwise(written: str, tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text(STATIC)
    done = run("cli", "compile", f"{tmp_path}/{written}")
    found = '--args "f32[?] f32[?] 3"' if "::" in written else "some.py::power?"
    assert found in done.stderr and done.returncode == (1 if "::" in written else 2)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("compil", "did you mean compile?"), ("help", "write pykern --help"), ("version", "write pykern --version"),
        ("run", "python FILE.py"), ("zzz", "there are compile, explore"),
    ],
)  # fmt: skip
def test_words_that_are_no_commands(word: str, said: str) -> None:
    done = run("cli", word)
    assert done.returncode == 2 and said in done.stderr and f"no command `{word}`" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command: str) -> None:
    told = " ".join(run("cli", command, "--help").stdout.split())
    assert f"example: pykern {command} " in told


def errors_page(code: str) -> str:
    from pykern.tools.explain_command import explanation

    return explanation(code)


def test_the_version() -> None:
    done = run("cli", "--version")
    assert (done.returncode, done.stdout) == (0, f"pykern-mlir {pykern.__version__}\n")


def test_without_a_command_there_is_help_and_the_code_of_wrong_usage() -> None:
    done = run("cli")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("usage: pykern") and "explain" in done.stderr


@pytest.mark.parametrize("command", ["compile", "explore", "export", "bench", "bisect", "repro"])
def test_commands_that_run_a_file_say_so(command: str) -> None:
    assert "FILE.py is imported, which runs it" in " ".join(run("cli", command, "--help").stdout.split())


@pytest.mark.parametrize(
    ("word", "target"),
    [
        ("nvvm", "nvvm:sm_90a"), ("cuda", "nvvm:sm_90a"), ("rocm", "rocdl:gfx942"), ("amd", "rocdl:gfx942"),
        ("spirv", "spirv:vulkan1.1"), ("vulkan", "spirv:vulkan1.1"), ("opencl", "spirv:opencl1.2"), ("cpu", "llvm"),
        ("cuda:sm_80", "nvvm:sm_80"), ("hip:gfx1100+cumode", "rocdl:gfx1100+cumode"),
    ],
)  # fmt: skip
def test_targets_by_the_words_of_elsewhere(word: str, target: str) -> None:
    assert saxpy.lower(*SPECS, ndrange=64, target=word).artifact.target == target
    assert program.lower(pk.spec((8,), pk.f32), target=word).artifact.target == target


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nvmm", "did you mean nvvm?"), ("cuad", "did you mean cuda?"), ("nvvm:sm_91", "nvvm:sm_90"),
        ("rocm:gfx941", "rocdl:gfx942"), ("spirv:vulkan1.4", "spirv:vulkan1.3"), ("cuda:0", "names a device"),
        ("dx12", "there are llvm, nvvm"), ("llvm:x86", "llvm:x86-64-v3"), ("nvvm:sm_80+alined", "there are aligned"),
        ("", "there are llvm"), (5, "there are llvm"),
    ],
)  # fmt: skip
def test_an_unknown_target_is_refused_before_anything_is_compiled(
    target: Any, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def compile(*_: object, **__: object) -> None:
        raise AssertionError("the compiler was asked")

    monkeypatch.setattr("pykern.compiler.service.Service.compile", compile)
    monkeypatch.chdir(tmp_path)
    calls = (
        lambda: saxpy.lower(*SPECS, ndrange=64, target=target),
        lambda: program.lower(pk.spec((8,), pk.f32), target=target),
        lambda: pk.explore(saxpy, *SPECS, ndrange=64, target=("llvm", target)),
    )
    for call in calls:
        with pytest.raises(pk.TargetError) as caught:
            call()
        assert said in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_command_refuses_a_target_before_it_imports_the_file(tmp_path: Path) -> None:
    file = tmp_path / "loud.py"
    file.write_text("raise SystemExit('imported')\n")
    for command in ("compile", "explore"):
        done = run("cli", command, f"{file}::k", "--ndrange", "4", "--target", "llvm,nvmm")
        assert done.returncode == 2
        assert "no target `nvmm`: did you mean nvvm?" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["loud.py"]


@pytest.mark.parametrize("chosen", [("--stage", "nothing"), ("--stage", "99"), ("--diff", "kern", "nothing")])
def test_compile_names_the_stages_there_are(chosen: tuple[str, ...]) -> None:
    types = "f32[?] f32[?] f32[?] f32"
    done = run("cli", "compile", f"{KERNELS}::saxpy", "--args", types, "--ndrange", "?", *chosen)
    assert done.returncode == 1
    assert "no stage" in done.stderr and "there are" in done.stderr and "Traceback" not in done.stderr


def test_a_stage_that_is_nearly_called_so(tmp_path: Path) -> None:
    types = "f32[?] f32[?] f32[?] f32"
    for command in (("compile",), ("explore", "--text")):
        call = ("cli", *command, f"{KERNELS}::saxpy", "--args", types, "--ndrange", "?")
        done = run(*call, "--stage", "kern-expand-ndrnge")
        assert done.returncode == 1
        assert "no stage 'kern-expand-ndrnge': did you mean 'kern-expand-ndrange'" in done.stderr


def test_the_package_is_the_command() -> None:
    for arguments, code in ((("explain", "PK002"), 0), (("compile",), 2), ((), 2)):
        command = [sys.executable, "-m", "pykern", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        same = run("cli", *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (same.returncode, same.stdout, same.stderr)
        assert done.returncode == code


def test_usage_error_is_2() -> None:
    assert run("cli", "nothing").returncode == 2


def test_devices_says_what_is_there_and_what_is_not() -> None:
    listed = {row["name"]: row for row in json.loads(run("cli", "devices", "--json").stdout)}
    assert listed["cpu"]["found"]
    assert listed["python"]["found"]
    for kind in ("cuda", "rocm", "metal", "vulkan", "opencl", "webgpu"):
        there = [
            row for name, row in listed.items() if name.startswith(f"{kind}:") and row["kind"] == "device"
        ]
        missing = listed.get(kind)
        assert there or (not missing["found"] and missing["state"])
        assert all(row["found"] and "compiles for" in row["state"] for row in there)
    assert listed["MLIR"]["found"]
    assert listed["FileCheck"]["state"] == str(llvm_tools() / "FileCheck")
    for name, program in (("ptxas", ptxas()), ("nvdisasm", nvdisasm()), ("spirv-dis", spirv_dis())):
        assert listed[name]["found"] == (program is not None)
        assert listed[name]["state"] == (program or "not installed")
    assert "cpu" in run("cli", "devices").stdout


def test_cache_lists_and_clears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYKERN_CACHE_DIR", str(tmp_path / "cache"))
    program = (
        "import sys, numpy as np; sys.path.insert(0, sys.argv[1]); import kernels_for_tools as k\n"
        "x = np.ones(4, np.float32); k.saxpy(x.copy(), x, x, 2.0, ndrange=4)"
    )
    subprocess.run([sys.executable, "-c", program, str(KERNELS.parent)], check=True, timeout=120)
    assert "saxpy" in run("cli", "cache").stdout
    kept = json.loads(run("cli", "cache", "--json").stdout)[
        "entries"
    ]  # what every process loads is there as well
    assert json.loads(run("cli", "cache", "clear", "--json").stdout) == {"removed": len(kept)}
    assert json.loads(run("cli", "cache", "--json").stdout)["entries"] == []


def test_stages_are_written_of_kernels_that_the_cache_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYKERN_CACHE_DIR", str(tmp_path / "cache"))
    program = (
        "import sys, numpy as np; sys.path.insert(0, sys.argv[1]); import kernels_for_tools as k\n"
        "x = np.ones(4, np.float32); k.saxpy(x.copy(), x, x, 2.0, ndrange=4)"
    )
    command = [sys.executable, "-c", program, str(KERNELS.parent)]
    subprocess.run(command, check=True, timeout=120)
    monkeypatch.setenv("PYKERN_DUMP", str(tmp_path / "stages"))
    subprocess.run(command, check=True, timeout=120)
    (folder,) = (tmp_path / "stages").iterdir()
    assert (folder / "00-kern.mlir").exists()


def test_cache_lists_what_was_used_last(capsys: pytest.CaptureFixture[str]) -> None:
    from pykern.compiler.cache import EntryInfo, Statistics
    from pykern.tools import cache_command

    class Cache:
        def entries(self) -> list[EntryInfo]:
            return [EntryInfo(f"{n:064}", f"kernel{n}", "llvm", 100, 1e9 - n, "/") for n in range(30)]

        def statistics(self) -> Statistics:
            return Statistics("/", 30, 3000, 10**6, 0, 0, 0, 0, "")

    cache_command._list(Cache(), False, 20)
    few = capsys.readouterr().out
    assert "kernel19 " in few and "kernel20 " not in few and "... and 10 more (--all)" in few
    cache_command._list(Cache(), False, None)
    whole = capsys.readouterr().out
    assert "kernel29 " in whole and "--all" not in whole


@pytest.mark.parametrize("code", sorted(errors.CODES))
def test_every_error_is_explained(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    from pykern.tools.cli import main

    assert main(["explain", code.lower()]) == 0
    told = capsys.readouterr().out
    title = f"{code}: {errors.CODES[code][1]}"
    assert told.startswith(f"{title}\n{'=' * len(title)}\n")
    assert not [mark for mark in ("<!--", "```", "](", "\033", "## ") if mark in told]
    page = errors_page(code)
    code_lines = {
        line for block in page.split("```")[1::2] for line in block.splitlines()[1:] if line.strip()
    }
    assert {f"    {line}" for line in code_lines} <= set(told.splitlines()), "code stands as it was written"
    prose = [line for line in told.splitlines() if not line.startswith(" ")]
    assert max(map(len, prose)) <= 80


def test_errors_are_listed_and_unknown_ones_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from pykern.tools.cli import main

    assert main(["explain"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(errors.CODES)
    assert main(["explain", "22"]) == 0
    capsys.readouterr()
    for asked, said in (
        ("PK909", "PK009: a launch that this kernel cannot run"),
        ("ndrange", "PK022: the ndrange is missing or wrong"),
        ("OutOfBound", "PK011: an access outside of an array"),
        ("nonsense", "`pykern explain` lists them"),
    ):
        assert main(["explain", asked]) == 2
        assert said in capsys.readouterr().err


def test_an_explanation_in_a_terminal_is_bold_and_its_code_is_not_wrapped() -> None:
    from pykern.benchmarking.terminal import ESCAPES, Style
    from pykern.tools.markdown import rendered

    page = "# A title\n\nSome `code` in\ntwo lines.\n\n```python\n" + "f(" + "x, " * 40 + "x)\n```\n"
    shown = rendered(page, Style(True), width=20)
    assert "\033[1mA title\033[0m" in shown and "\033[1mcode\033[0m" in shown
    assert "    f(" + "x, " * 40 + "x)" in ESCAPES.sub("", shown).splitlines()
    assert rendered(page, Style(), width=20).splitlines()[:4] == [
        "A title",
        "=======",
        "",
        "Some `code` in two",
    ]


def test_opt_runs_passes_in_order_of_flags() -> None:
    done = run("opt", "--kern-expand-ndrange", "--canonicalize", stdin=MODULE)
    assert done.returncode == 0, done.stderr
    assert "scf.for" in done.stdout
    assert "kern.global_id" not in done.stdout


def test_opt_pass_pipeline_and_options() -> None:
    text = "builtin.module(kern-expand-ndrange{subgroup-size=8},canonicalize)"
    assert "scf.for" in run("opt", f"--pass-pipeline={text}", stdin=MODULE).stdout


def test_opt_target_goes_down_to_llvm() -> None:
    done = run("opt", "--target=llvm", stdin=MODULE)
    assert "llvm.func @kern.f" in done.stdout, done.stderr


def test_opt_prints_after_all_to_stderr() -> None:
    done = run("opt", "--canonicalize", "--mlir-print-ir-after-all", stdin=MODULE)
    assert "IR Dump After canonicalize" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "text", "code", "said"),
    [
        (("--no-such-pass",), MODULE, 2, "no pass `no-such-pass`"),
        (("--kern-simplfy",), MODULE, 2, "did you mean --kern-simplify?"),
        (("--pass-pipeline=kern-simplfy",), MODULE, 2, "'kern-simplfy' does not refer to a registered pass"),
        (("--kern-expand-ndrange=wrong=1",), MODULE, 2, "no option `wrong`"),
        (("--pass-pipeline=a(",), MODULE, 2, "a bracket is not closed"),
        (("--target=tpu",), MODULE, 2, "no target `tpu`"),
        ((), "func.func @f( {", 1, "error"),
        (("/no/such/file.mlir",), "", 2, "No such file"),
    ],
)
def test_opt_refuses(arguments: tuple[str, ...], text: str, code: int, said: str) -> None:
    done = run("opt", *arguments, stdin=text)
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stderr


def test_opt_lists_passes_that_can_be_copied() -> None:
    told = run("opt", "--help").stdout.split()
    assert {"--kern-expand-ndrange", "--kern-drop-stop-gradient", "--kern-lower-device-reports"} <= set(told)


def test_pipeline_text_round_trips() -> None:
    from pykern.lowering.llvm import target as _target  # noqa: F401  registers the CPU's passes
    from pykern.lowering.llvm.pipeline import cpu_pipeline
    from pykern.passes.registry import parse_pipeline

    text = str(cpu_pipeline())
    assert str(parse_pipeline(text)) == text
