"""Live pages: what they hold, and in Chromium the numbers that they compute, compared with NumPy."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import pykern as pk
from tests.explorer.browser import WEBGPU, launched
from tests.exporter.program_cases import CASES, floats, heat, layer
from tests.exporter.test_export import heated, heated_by_numpy
from tests.project.tree import ROOT

F = pk.f32
SWAPPED = pk.LivePage(show="out", swap=(("out", "x"),), sliders={"rate": (0, 0.25)}, steps=2)


@pk.kernel
def escaped(counts, zoom: pk.f32, most: pk.i32):
    i, j = pk.index()
    x0, y0 = (pk.f32(j) / 24 - 1.5) / zoom, (pk.f32(i) / 24 - 1) / zoom
    x, y = pk.f32(0), pk.f32(0)
    count = pk.i32(0)
    while x * x + y * y < 4 and count < most:
        x, y = x * x - y * y + x0, 2 * x * y + y0
        count += 1
    counts[i, j] = count


@pk.kernel
def counted(bins, x):
    i = pk.index()
    pk.atomic_add(bins, x[i] & 7, 1)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched(*WEBGPU)


def opened(browser: Any, made: pk.Exported, folder: Path) -> Any:
    """The page, before its first launch."""
    file = folder / "page.html"
    file.write_bytes(made.files["html"])
    tab = browser.new_page()
    tab.set_default_timeout(120_000)
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.goto(file.as_uri() + "#paused")
    tab.wait_for_function("document.documentElement.dataset.ready !== undefined")
    assert not wrong and tab.text_content("#message") == "", wrong or tab.text_content("#message")
    return tab


def heated_page(x: np.ndarray) -> pk.Exported:
    return pk.export(heated, np.zeros_like(x), x, 0.1, ndrange=x.shape, form="html", page=SWAPPED)


def test_numbers_as_numpys(browser: Any, tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((37, 61)).astype(np.float32)
    tab = opened(browser, heated_page(x), tmp_path)
    tab.evaluate("pykern.frame()")
    once = heated_by_numpy(x)
    twice = np.where(
        heated_by_numpy(once) == 0, x, heated_by_numpy(once)
    )  # the rim of `out` is that of the first `x`
    twice[1:-1, 1:-1] = heated_by_numpy(once)[1:-1, 1:-1]
    got = np.array(tab.evaluate("pykern.read('x')"), np.float32).reshape(x.shape)
    np.testing.assert_allclose(got, twice, rtol=2e-6, atol=2e-6)
    assert tab.evaluate("pykern.launches()") == 2
    pixels = tab.evaluate(
        "(() => { const c = document.getElementById('picture');"
        "return [c.width, c.height, new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size]; })()"
    )
    assert pixels[:2] == [61, 37] and pixels[2] > 20
    tab.evaluate("pykern.startAgain()")
    again = np.array(tab.evaluate("pykern.read('x')"), np.float32).reshape(x.shape)
    np.testing.assert_array_equal(again, x)


def test_sliders_change_numbers(browser: Any, tmp_path: Path) -> None:
    counts = pk.spec((48, 48), pk.i32)
    made = pk.export(
        escaped, counts, 1.0, 50, ndrange=(48, 48), form="html", page=pk.LivePage(sliders={"most": (1, 90)})
    )
    tab = opened(browser, made, tmp_path)
    assert tab.get_attribute("#slider-most", "max") == "90"
    for most in (50, 7):
        tab.evaluate(f"pykern.set('most', {most}); pykern.frame()")
        tab.wait_for_timeout(300)
        got = np.array(tab.evaluate("pykern.read('counts')")).reshape(48, 48)
        expected = np.zeros((48, 48), np.int32)
        escaped(expected, 1.0, most, ndrange=(48, 48))
        assert (got == expected).mean() > 0.99, "rounding may move single elements of the border"


def test_atomics_in_a_page(browser: Any, tmp_path: Path) -> None:
    x = np.random.default_rng(2).integers(0, 1000, 999).astype(np.int32)
    made = pk.export(counted, np.zeros(8, np.int32), x, ndrange=999, form="html")
    tab = opened(browser, made, tmp_path)
    tab.evaluate("pykern.frame()")
    assert tab.evaluate("pykern.read('bins')") == np.bincount(x & 7, minlength=8).tolist()


@pk.kernel
def hashed(out, seed: pk.i64):
    i = pk.index()
    state = (seed + i) * 6364136223846793005
    out[i] = state ^ (state >> 29)


def test_integers_of_64_bits_in_a_page(browser: Any, tmp_path: Path) -> None:
    seed = (1 << 40) + 5
    made = pk.export(hashed, np.zeros(100, np.int64), seed, ndrange=100, form="html")
    tab = opened(browser, made, tmp_path)
    tab.evaluate("pykern.frame()")
    state = (np.arange(100) + seed) * np.int64(6364136223846793005)
    got = tab.evaluate("pykern.read('out').then((all) => all.map(String))")
    assert list(map(int, got)) == (state ^ (state >> 29)).tolist()


def test_a_derivative_in_a_page(browser: Any, tmp_path: Path) -> None:
    """The gradient of the sum of `out`: it is the same after each run, and follows the slider."""
    x = np.random.default_rng(4).standard_normal((9, 13)).astype(np.float32)
    result, given = pk.spec(x.shape, F), pk.Dup(x, pk.spec(x.shape, F))
    made = pk.export(pk.autodiff(heated), pk.Dup(result, result), given, 0.1, ndrange=x.shape, form="html")
    tab = opened(browser, made, tmp_path)
    for rate in (0.1, 0.1, 0.25):
        tab.evaluate(f"pykern.set('rate', {rate}); pykern.frame()")
        got = np.array(tab.evaluate("pykern.read('d_x')"), np.float32).reshape(x.shape)
        ones, wanted = np.ones_like(x), np.zeros_like(x)
        pk.autodiff(heated)(pk.Dup(np.zeros_like(x), ones), pk.Dup(x, wanted), rate, ndrange=x.shape)
        np.testing.assert_allclose(got, wanted, rtol=2e-6, atol=2e-6)
    shown = tab.evaluate("JSON.parse(document.getElementById('data').textContent).shown")
    assert wanted.any() and [each["name"] for each in made.manifest["arguments"]][shown] == "d_x"
    forward = pk.export(
        pk.autodiff(heated, mode="forward"), pk.Dup(result, result), given, 0.1, ndrange=x.shape, form="html"
    )
    tab = opened(browser, forward, tmp_path)
    tab.evaluate("pykern.frame()")
    got = np.array(tab.evaluate("pykern.read('d_out')"), np.float32).reshape(x.shape)
    np.testing.assert_allclose(got, heated_by_numpy(np.ones_like(x)), rtol=2e-6, atol=2e-6)


class Mix(NamedTuple):
    x: Any
    scale: Any


@pk.kernel
def mixed(out, mix, a: pk.f16, b: pk.bf16):
    i = pk.index()
    out[i, 0], out[i, 1] = pk.f32(a), pk.f32(b)
    out[i, 2] = mix.x[i] * mix.scale


def test_structures_and_numbers_of_16_bits_in_a_page(browser: Any, tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float32)
    made = pk.export(
        mixed, np.zeros((6, 3), np.float32), Mix(x, np.float32(2.5)), 1.5, -2.0, ndrange=6, form="html",
        page=pk.LivePage(sliders={"a": (0, 3)}),
    )  # fmt: skip
    tab = opened(browser, made, tmp_path)
    assert float(tab.get_attribute("#slider-a", "step")) < 0.1
    for number in (1.5, 1 / 3, -7e-6, 2047.5, 65519.0, 1e9, 3e-8):
        tab.evaluate(f"pykern.set('a', {number}); pykern.set('b', {number}); pykern.frame()")
        got = np.array(tab.evaluate("pykern.read('out').then((all) => all.map(String))"), np.float32).reshape(
            6, 3
        )
        bits = np.float32(number).view(np.uint32)
        short = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(got[:, 0], np.float32(np.float16(number)))
        np.testing.assert_array_equal(got[:, 1], short)
        np.testing.assert_array_equal(got[:, 2], x * np.float32(2.5))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.decides])
def test_programs_in_a_page(browser: Any, tmp_path: Path, name: str) -> None:
    """All their results, and what they update, after one run."""
    case = CASES[name]
    made = pk.export(case.program, *case.given(), form="html")
    tab = opened(browser, made, tmp_path)
    tab.evaluate("pykern.launch()")
    names = [each["name"] for each in made.manifest["results"]]
    for result, wanted in zip(names, case.results(), strict=True):
        got = np.array(tab.evaluate(f"pykern.read('{result}')"), wanted.dtype).reshape(wanted.shape)
        np.testing.assert_allclose(got, wanted, rtol=3e-5, atol=3e-5, err_msg=result)
    tab.close()


def test_a_program_that_goes_on_from_its_result(browser: Any, tmp_path: Path) -> None:
    x = np.random.default_rng(5).standard_normal(64).astype(np.float32)
    page = pk.LivePage(swap=(("result", "x"),), sliders={"rate": (0, 0.5)}, steps=2)
    tab = opened(browser, pk.export(heat, x, 0.1, form="html", page=page), tmp_path)
    tab.evaluate("pykern.set('rate', 0.25); pykern.frame()")
    wanted = heat.__wrapped__(heat.__wrapped__(x, np.float32(0.25)), np.float32(0.25))
    got = np.array(tab.evaluate("pykern.read('x')"), np.float32)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    assert tab.evaluate("pykern.launches()") == 2 and tab.get_attribute("#slider-rate", "max") == "0.5"


def test_a_browser_without_webgpu_is_told(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(heated_page(np.zeros((8, 8), np.float32)).files["html"])
    tab = browser.new_page()
    tab.add_init_script("Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined })")
    tab.goto(file.as_uri())
    tab.wait_for_function("document.documentElement.dataset.ready === '0'")
    assert "has no WebGPU" in tab.text_content("#message") and tab.is_visible("#message")


def test_the_page_asks_for_nothing_but_itself() -> None:
    text = heated_page(np.zeros((8, 8), np.float32)).text
    assert not re.search(r"(?:src|href)=|https?://|fetch\(|import\(", text)
    assert "</script>" not in text[text.index('id="data">') : text.index("</script>")]


@pytest.mark.parametrize(
    ("args", "ndrange", "page", "said"),
    [
        ((pk.spec((None, None), F),) * 2, (8, 8), pk.LivePage(), "every length of `out`"),
        ((pk.spec((8, 8), F),) * 2, (None, None), pk.LivePage(), "known ndrange"),
        ((pk.spec((8, 8), F),) * 2, (8, 8), pk.LivePage(show="y"), "names `y`"),
        ((pk.spec((8, 8), F),) * 2, (8, 8), pk.LivePage(sliders={"z": (0, 1)}), "names `z`"),
    ],
)
def test_what_a_page_cannot_show(args: tuple, ndrange: tuple, page: pk.LivePage, said: str) -> None:
    with pytest.raises(pk.LaunchError, match=said):
        pk.export(heated, *args, 0.1, ndrange=ndrange, form="html", page=page)


def test_arrays_of_a_reverse_derivative_do_not_change_places() -> None:
    dup = pk.Dup(*(pk.spec((8, 8), F),) * 2)
    with pytest.raises(pk.LaunchError, match="so none change places"):
        pk.export(pk.autodiff(heated), dup, dup, 0.1, ndrange=(8, 8), form="html", page=SWAPPED)


def test_what_a_page_of_a_program_cannot_show() -> None:
    x = floats(np.random.default_rng(6), 40)
    for name in ("counted loop", "branch"):
        with pytest.raises(pk.LaunchError, match=r"the host of `[a-z]+` has to"):
            pk.export(CASES[name].program, *CASES[name].given(), form="html")
    with pytest.raises(pk.LaunchError, match="names `y`, and there are x, result"):
        pk.export(heat, x, 0.1, form="html", page=pk.LivePage(show="y"))
    with pytest.raises(pk.LaunchError, match="differ in type or shape"):
        pk.export(layer, *CASES["layer"].given(), form="html", page=pk.LivePage(swap=(("x", "w"),)))


def test_the_pages_of_the_gallery(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One launch in the browser gives what one on this machine gives; each page draws something."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    ran = runpy.run_path(str(ROOT / "examples" / "gallery" / "plot_live_pages.py"))
    for page, array, wanted in (
        ("waves", "u", ran["after"]), ("react", "v", ran["v2"]),
        ("julia", "count", ran["count"]), ("bodies", "p", ran["p2"]),
    ):  # fmt: skip
        tab = opened(browser, ran[f"live_{page}"], tmp_path)
        tab.evaluate("pykern.launch()")
        got = np.array(tab.evaluate(f"pykern.read('{array}')")).reshape(wanted.shape)
        if page == "julia":
            assert (got == wanted).mean() > 0.99, "rounding may move single elements of the border"
        else:
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=2e-6, err_msg=page)
        tab.evaluate("pykern.frame()")
        tab.close()
