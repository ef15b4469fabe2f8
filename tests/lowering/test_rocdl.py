"""The whole language on AMD's chips: the metadata of the code object and its instructions looked at."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import pykern as pk
from pykern.data.target import parse
from pykern.errors import TargetError
from pykern.lowering.rocdl.chips import CHIPS
from pykern.lowering.rocdl.metadata import kernel_metadata
from pykern.lowering.rocdl.occupancy import occupancy
from pykern.lowering.rocdl.options import options_of
from pykern.lowering.rocdl.pipeline import rocdl_pipeline
from pykern.passes.registry import parse_pipeline
from tests.lowering.kernels import BINARY, CASES, UNARY, Case, function, on_chips, vector

TESTED = on_chips(("gfx942", "gfx1100"), ("gfx90a", "gfx950", "gfx1201"))


@pytest.mark.parametrize(("name", "chip"), TESTED)
def test_the_language(name, chip):
    compiled = CASES[name].compile(f"rocdl:{chip}")
    resources, device = compiled.resources, compiled.artifact.device
    assert device.format == "hsaco" and compiled.binary[:5] == b"\x7fELF\x02" and not device.offsets
    assert resources["vgpr_spills"] == resources["sgpr_spills"] == resources["stack_bytes"] == 0
    assert resources["subgroup_size"] == CHIPS[chip].subgroup_size
    assert resources["shared_bytes"] == device.shared_bytes
    # one cell of 8 bytes an argument, and none that was not asked for
    assert resources["argument_bytes"] == 8 * len(device.arguments)
    said = kernel_metadata(compiled.binary, compiled.artifact.entry)
    kinds = {"global_buffer": "memory", "by_value": "slot"}
    assert [kinds[a[".value_kind"]] for a in said["args"]] == list(device.arguments)
    assert f'amdgcn-amd-amdhsa--{chip}"' in compiled.asm()


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_functions(name, kind):
    case = Case(function(name), (vector(kind),) * (3 if name in BINARY else 2), "n")
    resources = case.compile("rocdl:gfx942").resources
    assert resources["vgpr_spills"] == resources["stack_bytes"] == 0


def test_assembly_tells_lines():
    """What the emulator reads: text in place of a code object, with the lines of instructions where that is asked."""
    case = CASES["elementwise_f32"]
    compiled = case.compile("rocdl:gfx1100+assembly+lines")
    text = compiled.artifact.binary.decode()
    assert compiled.artifact.device.format == "assembly" and compiled.artifact.device.arguments
    files = dict(re.findall(r'\.file\t(\d+) "[^"]*" "([^"]*)"', text))
    placed = re.search(r"\.loc\t(\d+) (\d+) .*\n\tglobal_store_b32", text)
    assert placed is not None and files[placed[1]].endswith("kernels.py")
    with open(case.kernel.__wrapped__.__code__.co_filename) as file:
        assert file.read().splitlines()[int(placed[2]) - 1].strip() == "out[i] = a * x[i] + y[i]"
    assert ".loc" not in case.compile("rocdl:gfx1100+assembly").artifact.binary.decode()


def test_the_pipeline_is_its_text():
    for target in ("rocdl:gfx90a", "rocdl:gfx1100+cumode+aligned"):
        text = str(rocdl_pipeline(*options_of(parse(target))))
        assert str(parse_pipeline(text)) == text


def test_launch_facts():
    compiled = CASES["histogram"].compile("rocdl:gfx90a")
    device = compiled.artifact.device
    assert device.arguments == ("memory", "slot", "memory", "slot", "slot", "slot")
    assert device.shared_bytes == 256 and compiled.artifact.workgroup == (128,)
    said = kernel_metadata(compiled.binary, "kern_histogram")
    assert said["max_flat_workgroup_size"] == 128 and said["reqd_workgroup_size"] == [128, 1, 1]
    assert CASES["sized_at_launch"].compile("rocdl:gfx90a").artifact.device.dynamic_shared
    with pytest.raises(ValueError, match="no kernel other"):
        kernel_metadata(compiled.binary, "other")
    with pytest.raises(ValueError, match="not an ELF file"):
        kernel_metadata(b"something else", "kern_histogram")


def test_compute_units_alone_or_in_pairs():
    pairs, alone = (CASES["matmul"].compile(f"rocdl:gfx1100{option}") for option in ("", "+cumode"))
    assert ".amdhsa_workgroup_processor_mode 1" in pairs.asm()
    assert ".amdhsa_workgroup_processor_mode 0" in alone.asm()
    assert pairs.resources["occupancy"] == alone.resources["occupancy"]
    assert pairs.resources["resident_groups"] == 2 * alone.resources["resident_groups"]


# Waves a SIMD as LLVM's GCNSubtarget gives them: (target, group, registers, shared) -> groups.
@pytest.mark.parametrize(
    ("target", "group", "registers", "shared", "groups"),
    [
        ("gfx90a", 256, 64, 0, 8),  # 8 waves on each of 4 SIMDs, 4 a group
        ("gfx90a", 256, 65, 0, 7),  # 512 / 72
        ("gfx90a", 256, 512, 0, 1),
        ("gfx942", 64, 32, 0, 32),  # one wave: no barrier, no limit of groups
        ("gfx942", 128, 32, 0, 16),
        ("gfx942", 64, 32, 16 * 1024, 4),
        ("gfx950", 64, 32, 16 * 1024, 10),
        ("gfx1100", 256, 96, 0, 8),  # 1536 / 96 = 16 waves on each of 4 SIMDs, 8 a group
        ("gfx1100", 256, 97, 0, 6),  # 97 are given as 120: 12 waves
        ("gfx1100+cumode", 256, 96, 0, 4),
    ],
)
def test_resident_groups(target, group, registers, shared, groups):
    chip, _ = options_of(parse(f"rocdl:{target}"))
    found = occupancy(chip, group, registers, shared)
    assert found.groups == groups
    waves = groups * (group // chip.subgroup_size)
    assert found.part == waves / (chip.waves * chip.simds)


@pytest.mark.parametrize(
    ("group", "registers", "shared", "limit"),
    [
        (256, 32, 0, "subgroups"),
        (256, 128, 0, "registers"),
        (64, 32, 16 * 1024, "shared memory"),
    ],
)
def test_what_limits_occupancy(group, registers, shared, limit):
    chip, _ = options_of(parse("rocdl:gfx942"))
    assert occupancy(chip, group, registers, shared).limit == limit


# -- refusals -----------------------------------------------------------------------------------


def refused(case: Case, target: str, **keywords) -> TargetError:
    with pytest.raises(TargetError) as caught:
        case.kernel.lower(*case.args, ndrange=case.ndrange, target=target, **keywords)
    return caught.value


def test_unknown_chips_and_options():
    case = CASES["elementwise_f32"]
    assert "rocdl:gfx1100" in refused(case, "rocdl:gfx9").hint
    assert "no option `fast`" in refused(case, "rocdl:gfx942+fast").reason
    assert "compute units of one kind" in refused(case, "rocdl:gfx942+cumode").reason


def test_limits_of_a_group():
    error = refused(CASES["elementwise_f32"], "rocdl:gfx942", workgroup=2048)
    assert "2048 work-items, and gfx942 has 1024" in error.reason and error.span.line > 0

    @pk.kernel(workgroup=64)
    def greedy(x):
        i = pk.index()
        s = pk.shared(20 * 1024, pk.f32)
        s[pk.local_index()] = x[i]
        pk.barrier()
        x[i] = s[63 - pk.local_index()]

    case = Case(greedy, (vector("f32"),), "n")
    assert "81920 bytes of shared memory" in refused(case, "rocdl:gfx942").reason
    assert case.compile("rocdl:gfx950").resources["shared_bytes"] == 81920


# -- instructions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "chip", "wanted"),
    [
        ("atomics_f32", "gfx90a", "global_atomic_add_f32"),
        ("atomics_f64", "gfx942", "global_atomic_add_f64"),
        ("atomics_f64", "gfx1100", "global_atomic_cmpswap_b64"),
        ("atomics_i64", "gfx942", "global_atomic_smin_x2"),
        ("atomics_u32", "gfx1201", "global_atomic_max_u32"),
        ("atomics_u8", "gfx942", "global_atomic_cmpswap"),
        ("histogram", "gfx942", "ds_add_u32"),
        ("collectives_i32", "gfx942", "ds_bpermute_b32"),
        ("reduction", "gfx1100", "s_barrier"),
    ],
)
def test_native_instructions(name, chip, wanted):
    assert re.search(rf"^\s+{wanted}", CASES[name].compile(f"rocdl:{chip}").asm(), re.MULTILINE)


def test_neighbouring_accesses_become_one():
    @pk.kernel
    def four(out, x):
        i = pk.index()
        for k in pk.unroll(range(4)):
            out[4 * i + k] = x[4 * i + k] * 2

    asm = Case(four, (vector("f32"),) * 2, "n").compile("rocdl:gfx942+aligned").asm()
    assert "global_load_dwordx4" in asm and "global_store_dwordx4" in asm


def test_one_process_emits_again_and_again():
    for _ in range(3):

        @pk.kernel
        def doubled(x):
            x[pk.index()] *= 2

        assert "global_store" in Case(doubled, (vector("f32"),), "n").compile("rocdl:gfx942").asm()


WITHOUT_BACKEND = """
import importlib.util, os, sys
os.environ["PYKERN_COMPILER"], os.environ["PYKERN_CACHE"] = "inprocess", "0"
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == "llvmlite" else found(name, *a)
import pykern as pk
from pykern.compiler.service import service
from pykern.obtain.code import compiled
from pykern.environment.settings import settings
from tests.lowering.kernels import CASES

def told(call):
    try:
        return call()
    except pk.TargetError as error:
        return f"{error.reason} | {error.hint}"

lowered = CASES["matmul"].lower("rocdl:gfx942")
print([s.kind for s in lowered.stages][-1], "llvm.func" in lowered.stages[-2].text, len(lowered.stages) > 20)
print(told(lowered.compile))
print(told(lambda: service().compile(lowered.source)))
os.environ["PYKERN_DUMP"] = sys.argv[1]
settings.cache_clear()
print(told(lambda: compiled(lowered.source)))
print(len(os.listdir(sys.argv[1])), "llvmlite" in sys.modules)
"""


def test_without_the_backend_there_are_the_stages(tmp_path):
    """llvmlite comes with the extra `rocm`: who has it not sees MLIR and LLVM IR, and is told what makes code."""
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_BACKEND, tmp_path], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    stages, *told, left = ran.stdout.splitlines()
    assert stages == "llvm True True" and left == "1 False"
    assert len(told) == 3
    for line in told:
        assert "llvmlite makes machine code for AMD's GPUs, and it is not installed | pip install" in line
