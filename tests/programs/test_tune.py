"""`pk.tune`: what it keeps, what it survives, and that later calls use it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import pykern as pk
from pykern.data.schedule import Schedule, parse
from pykern.environment.settings import settings
from pykern.pytest_plugin import need_device
from pykern.storage.store import TUNED, Entry, shared_store
from pykern.tuning import search as tuning
from pykern.tuning.candidates import candidates

OTHER = "form=direct,rows=2,vectors=2,depth=0,block=0,unroll=1,threads=True"


@pk.jit
def product(a, b):
    return a @ b


@pk.jit
def plain(a):
    return a + 1.0


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYKERN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYKERN_QUIET", "1")
    settings.cache_clear()
    product.forget_plans()
    yield tmp_path / "cache"
    monkeypatch.undo()
    settings.cache_clear()
    product.forget_plans()


@pytest.fixture
def factors(rng):
    return rng.standard_normal((20, 24)), rng.standard_normal((24, 32))


def schedule_in_use(a, b) -> str:
    text = next(s.text for s in product.lower(a, b).stages if s.name.startswith("kern-make-nests"))
    return text[text.index("kern.schedule =") :].split("}")[0]


def entry() -> Entry:
    [found] = shared_store().entries(TUNED)
    return found


def stored_timings() -> dict[str, float]:
    data = shared_store().read(TUNED, entry().key)
    assert data is not None
    return json.loads(data)["timings"]


def store(timings: dict[str, float]) -> None:
    shared_store().write(TUNED, entry().key, json.dumps({"version": 1, "timings": timings}).encode())


def test_schedules_and_their_text():
    chosen = Schedule("packed", 6, 2, 256, 32, 2, False)
    assert parse(str(chosen)) == chosen
    assert str(chosen) not in candidates(str(chosen))
    for wrong in ("", "form=packed", "form=other,rows=1,vectors=1", "rows=six,form=direct,vectors=1", "a=b"):
        with pytest.raises(ValueError, match=r".+"):
            parse(wrong)


def test_timings_are_kept_and_gone_on_with(own_cache, factors):
    first = pk.tune(product, *factors, seconds=3)
    assert first.tried >= 1 and first.seconds <= first.before
    stored = stored_timings()
    assert "" in stored and len(stored) == first.tried + 1
    again = pk.tune(product, *factors, seconds=0.2)
    assert again.tried + len(stored) <= len(again.timings) + 1  # nothing that was known is timed again
    assert set(stored) <= set(again.timings)
    a, b = factors
    np.testing.assert_allclose(product(a, b), a @ b, atol=1e-12)


def test_later_compilations_use_the_best(own_cache, factors):
    pk.tune(product, *factors, seconds=0.01)
    store({"": 1.0, OTHER: 0.5})
    product.forget_plans()
    used = schedule_in_use(*factors)
    assert "rows = 2" in used and "unroll = 1" in used
    a, b = factors
    np.testing.assert_allclose(product(a, b), a @ b, atol=1e-12)
    assert "rows = 2" not in schedule_in_use(a[:8], b)  # another kind of call


def test_tiles_that_unroll_take_slices_of_any_length(own_cache, rng):
    """The last slice of 103 terms in slices of 26 is shorter; its tiles could not be unrolled."""
    a, b = rng.standard_normal((21, 103)), rng.standard_normal((103, 32))
    pk.tune(product, a, b, seconds=0.01)
    store({"": 1.0, "form=packed,rows=6,vectors=2,depth=26,block=8,unroll=4,threads=True": 0.5})
    product.forget_plans()
    np.testing.assert_allclose(product(a, b), a @ b, atol=1e-12)
    assert "depth = 26" in schedule_in_use(a, b)


@pytest.mark.parametrize(
    "damage", ["", "{", "[1]", '{"version": 9, "timings": {}}', '{"version": 1, "timings": {"nonsense": 0.1}}',
               '{"version": 1, "timings": {"": "NaN"}}', '{"version": 1, "timings": 3}']
)  # fmt: skip
@pytest.mark.parametrize("whole", [True, False])
def test_a_damaged_file_is_nothing_known(own_cache, factors, damage, whole):
    pk.tune(product, *factors, seconds=0.01)
    if whole:
        shared_store().write(TUNED, entry().key, damage.encode())
    else:
        with open(entry().path, "w") as file:
            file.write(damage)
    product.forget_plans()
    a, b = factors
    np.testing.assert_allclose(product(a, b), a @ b, atol=1e-12)
    assert pk.tune(product, a, b, seconds=0.01).path  # written anew
    assert "" in stored_timings()


def test_an_interruption_keeps_the_best(own_cache, factors, monkeypatch):
    tries = []
    true = tuning.Search._try

    def interrupted(self, name):
        if len(tries) == 2:
            raise KeyboardInterrupt
        tries.append(name)
        return true(self, name)

    monkeypatch.setattr(tuning.Search, "_try", interrupted)
    found = pk.tune(product, *factors, seconds=60)
    assert found.interrupted and len(tries) == 2
    assert set(stored_timings()) >= {name for name in tries if name in found.timings}


def test_wrong_results_are_not_taken(own_cache, factors, monkeypatch):
    monkeypatch.setattr(tuning, "agree", lambda found, expected: False)
    found = pk.tune(product, *factors, seconds=1)
    assert found.schedules == () and found.tried == 0


def test_processes_at_the_same_time(own_cache, tmp_path):
    script = tmp_path / "tuned.py"
    script.write_text(
        "import numpy as np, pykern as pk\n"
        "@pk.jit\ndef product(a, b):\n    return a @ b\n"
        "a = np.ones((16, 16))\n"
        "pk.tune(product, a, a, seconds=0.5)\n"
        "assert np.allclose(product(a, a), 16.0)\n"
    )
    running = [subprocess.Popen([sys.executable, script], env={**os.environ}) for _ in range(2)]
    assert [each.wait(timeout=120) for each in running] == [0, 0]
    assert "" in stored_timings()


def test_without_contractions_there_is_nothing_to_tune(own_cache):
    assert pk.tune(plain, np.ones(8), seconds=1).tried == 0


def test_what_is_no_program_is_refused():
    with pytest.raises(pk.KernelTypeError, match="neither an array program nor a kernel"):
        pk.tune(np.sin, 1.0)
    with pytest.raises(pk.KernelTypeError, match="above 0"):
        pk.tune(product, np.ones((2, 2)), np.ones((2, 2)), seconds=0)


@pk.kernel
def weighted(out, x, w):
    i, j = pk.index()
    out[i, j] = w * x[i, j] + pk.ndrange(0)


@pk.kernel
def by_group(out):
    out[pk.index()] = pk.group_size(0)


@pk.kernel
def matmul(c, a, b):
    i, j = pk.index()
    total = 0.0
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


@pk.kernel
def tiled_matmul(c, a, b):
    i, j = pk.tile()
    total = pk.zeros((i, j), pk.f64)
    for k in pk.tiles(a.shape[1]):
        total += a[i, k] @ b[k, j]
    c[i, j] = total


@pytest.fixture
def forgets():
    yield
    for kernel in (weighted, by_group, matmul):
        kernel.launcher.forget()


@pytest.mark.parametrize("device", ["opencl", "vulkan", "cuda:emulated"])
def test_workgroups_of_a_kernel(own_cache, forgets, rng, device):
    need_device(device)
    x = rng.standard_normal((37, 50)).astype("float32")
    out = np.zeros_like(x)
    found = pk.tune(weighted, out, x, 2.0, ndrange=x.shape, device=device, seconds=1)
    assert found.tried >= 1 and found.seconds <= found.before and "" in found.timings
    assert not out.any()  # it runs on copies
    store({"": 1.0, "2x16": 0.5})
    weighted.launcher.forget()
    on_device, result = pk.asarray(x, device=device), pk.zeros(x.shape, pk.f32, device=device)
    for _ in range(4):  # the compiled entry takes the later ones
        weighted(result, on_device, 2.0, ndrange=x.shape)
    np.testing.assert_allclose(result.numpy(), np.float32(2) * x + 37, rtol=1e-6)
    assert groups_of(weighted) == {(2, 16)}
    weighted(result, on_device, 2.0, ndrange=x.shape, workgroup=(4, 8))
    assert groups_of(weighted) == {(2, 16), (4, 8)}


def groups_of(kernel) -> set[tuple[int, ...]]:
    return {artifact.workgroup for artifact in kernel.launcher.cache.artifacts.values()}


def test_a_group_that_changes_the_result_is_not_taken(own_cache, forgets):
    need_device("opencl")
    found = pk.tune(by_group, np.zeros(4096, np.int64), ndrange=4096, device="opencl", seconds=5)
    assert found.tried == 0 and found.schedules == ()


@pytest.mark.parametrize("kernel", [matmul, tiled_matmul])
def test_products_of_kernels_have_schedules(own_cache, forgets, factors, kernel):
    a, b = factors
    c = np.zeros((20, 32))
    found = pk.tune(kernel, c, a, b, ndrange=c.shape, seconds=2)
    assert found.tried >= 1 and not c.any()
    kernel(c, a, b, ndrange=c.shape)
    np.testing.assert_allclose(c, a @ b, atol=1e-12)


def test_kernels_with_nothing_to_tune(own_cache, forgets):
    x = np.ones((3, 4), np.float32)
    with pytest.raises(pk.KernelTypeError, match="nothing to tune on the device cpu"):
        pk.tune(weighted, x, x, 1.0, ndrange=x.shape)
    with pytest.raises(pk.KernelTypeError, match="the workgroup of `weighted` is given"):
        pk.tune(weighted, x, x, 1.0, ndrange=x.shape, workgroup=(1, 4))
    with pytest.raises(pk.LaunchError, match="without an ndrange"):
        pk.tune(weighted, x, x, 1.0)


@pytest.mark.parametrize("damage", ["8x8x8", "64"])
def test_a_group_of_another_rank_is_damage(own_cache, forgets, damage):
    need_device("opencl")
    x = np.ones((3, 4), np.float32)
    out = pk.zeros(x.shape, pk.f32, device="opencl")
    given = pk.asarray(x, device="opencl")
    pk.tune(weighted, out, given, 1.0, ndrange=x.shape, seconds=0.01)
    store({"": 1.0, damage: 0.5})
    weighted.launcher.forget()
    weighted(out, given, 1.0, ndrange=x.shape)
    np.testing.assert_array_equal(out.numpy(), x + 3)
