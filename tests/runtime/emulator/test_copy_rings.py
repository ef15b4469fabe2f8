"""Producers and consumers of the emulator: mbarriers, copies of boxes, products, named barriers, the roles of warps."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pykern.errors import KernelError
from pykern.lowering.nvvm.ptxas import assemble, ptxas
from tests.runtime.emulator.hopper_kernels import ring_product, ring_text

SHAPES = [(64, 64, 64), (64, 64, 512), (70, 72, 200), (1, 8, 8), (130, 40, 328)]
"""Rows, columns and terms; the last two multiples of 8, as rows begin at multiples of 16 bytes."""


def matrices(rng, rows, columns, terms):
    return (rng.standard_normal((n, terms)).astype(ml_dtypes.bfloat16) for n in (rows, columns))


def wanted(a, b):
    return a.astype(np.float64) @ b.T.astype(np.float64)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_product_through_a_ring(shape, rng):
    a, b = matrices(rng, *shape)
    have = ring_product(a, b).astype(np.float64)
    np.testing.assert_allclose(have, wanted(a, b), rtol=1e-2, atol=1e-2 * np.sqrt(shape[2]))


ARRIVE = "mbarrier.arrive.shared::cta.b64 %rd20, [%r8];\n"
RELEASE = f"setp.ne.u32 %p5, %r0, 0;\n@%p5 bra $released;\n{ARRIVE}$released:\n"
WAIT = "wgmma.wait_group.sync.aligned 0;\n"
EXPECT = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], "
MADE = "mbarrier.init.shared::cta.b64 [%r3+8], "
FENCE = "fence.proxy.async.shared::cta;\n"
AT = "\nshl.b32 %r12"
PHASE = "try_wait.parity.shared::cta.b64 %p3, [%r7], "
WRONG = {
    "producer waits for no slot": [("@!%p3 bra $wait_empty;\n", "")],
    "producer begins with the other phase": [("xor.b32 %r10, %r5, 1;", "mov.b32 %r10, %r5;")],
    "consumer waits for no copy": [("@!%p3 bra $wait_full;\n", "")],
    "consumer waits for the other phase": [(f"{PHASE}%r5", f"{PHASE}%r10")],
    "consumer releases no slot": [(ARRIVE, "")],
    "consumer releases before products are done": [(WAIT + RELEASE, f"{RELEASE}bar.sync 2, 128;\n{WAIT}")],
    "phases that do not turn": [("xor.b32 %r5, %r5, %r13;", "")],
    "too few bytes": [(f"{EXPECT}16384", f"{EXPECT}8192")],
    "too many bytes": [(f"{EXPECT}16384", f"{EXPECT}32768")],
    "barriers that nobody made": [(f"{MADE}1;\n", "")],
    "barriers that count two": [(f"{MADE}1;", f"{MADE}2;")],
    "no barrier behind the barriers' begin": [("$ready:\nbar.sync 0;\n", "$ready:\n")],
    "no fence before the copy back": [(FENCE, "")],
    "no barrier before the copy back": [(f"{FENCE}bar.sync 1, 128;\n", FENCE)],
    "a barrier that counts too many": [("bar.sync 1, 128;", "bar.sync 1, 160;")],
    "the copy back is not waited for": [("cp.async.bulk.wait_group 0;\n", "")],
    "the copy back is in no group": [("cp.async.bulk.commit_group;\n", "")],
    "no fence before products": [("wgmma.fence.sync.aligned;\n", "")],
    "another swizzle": [("xor.b32 %r18, %r18, %r19;", "")],
    "a map of the other factor": [("cvta.param.u64 %rd1, %rd1;", "cvta.param.u64 %rd1, %rd0;")],
    "no map": [("cvta.param.u64 %rd1, %rd1;", "add.s64 %rd1, %rd0, 64;")],
    "a slot that is not there": [(f"%r4, 16384, %r1;{AT}", f"%r4, 32768, %r1;{AT}")],
}


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_found_or_gives_other_numbers(what, rng):
    a, b = matrices(rng, 64, 64, 520)
    try:
        have = ring_product(a, b, WRONG[what]).astype(np.float64)
    except KernelError:
        return  # `test_faults_say_what_is_wrong` looks at some of them
    assert not np.allclose(have, wanted(a, b), rtol=1e-2, atol=0.3)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("consumer releases no slot", "wait for what never comes"),
        ("consumer releases before products are done", "with no barrier between"),
        ("no fence before the copy back", "without a fence.proxy.async"),
        ("the copy back is not waited for", "before its asynchronous copies"),
        ("barriers that nobody made", "no work-item of the group has written"),
        ("no map", "no tensor map"),
        ("a slot that is not there", "outside of memory"),
        ("a barrier that counts too many", "wait for what never comes"),
    ],
)
def test_faults_say_what_is_wrong(what, said, rng):
    a, b = matrices(rng, 64, 64, 520)
    with pytest.raises(KernelError, match=said) as found:
        ring_product(a, b, WRONG[what])
    assert "(" in str(found.value)


@pytest.mark.skipif(ptxas() is None, reason="there is no ptxas")
def test_the_assembler_takes_it():
    cubin = assemble(ring_text(), "sm_90a")
    assert not cubin.spill_loads
