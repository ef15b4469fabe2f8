"""Windows of all sizes and frames of notebooks, in a real browser: what is to be seen, and whether it can be read."""

from __future__ import annotations

import re

import pytest

from pykern.explorer.comparison import Comparison
from pykern.explorer.notebook import frame
from tests.explorer import browser as real
from tests.explorer.browser import Tab
from tests.explorer.samples import SAMPLES

pytestmark = pytest.mark.slow
VISIBLE = """[...document.querySelectorAll('.pane, #stages, #drawer')].filter(p => p.offsetWidth)
    .sort((x, y) => x.getBoundingClientRect().x - y.getBoundingClientRect().x).map(p => p.id)"""
OVERFLOW = """[...document.querySelectorAll('body, header, main, #switch, #tools, #title, .pane h2, #tabs')]
    .filter(e => {
      const box = e.getBoundingClientRect();
      return box.width && (box.right > innerWidth + 1 || box.left < -1);
    }).map(e => e.id || e.className || e.tagName)"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return real.written(tmp_path_factory.mktemp("layout"), Comparison((SAMPLES["heat"].look("llvm"),)))


def seen(tab) -> list[str]:
    return tab.page.evaluate(VISIBLE)


def test_small_windows_show_one_pane_and_the_python_first(browser, file):
    tab = Tab(browser, file, size=(390, 844))
    assert seen(tab) == ["python"]
    assert tab.lit("python")
    for name, pane in (
        ("a", "a"),
        ("b", "b"),
        ("stages", "stages"),
        ("drawer", "drawer"),
        ("python", "python"),
    ):
        tab.page.click(f'#switch [data-pane="{name}"]')
        assert seen(tab) == [pane]
        assert tab.page.evaluate(OVERFLOW) == []
        assert tab.page.get_attribute(f'#switch [data-pane="{name}"]', "aria-selected") == "true"
    tab.page.click('#switch [data-pane="b"]')
    assert tab.lit("b"), "what is lit is scrolled to, also in a pane that was hidden"
    tab.press("r")
    assert seen(tab) == ["drawer"]
    tab.page.focus('#switch [aria-selected="true"]')
    tab.press("ArrowRight")
    assert seen(tab) == ["python"]
    tab.page.click('#switch [data-pane="stages"]')
    tab.page.click(".stage >> nth=2")
    assert seen(tab) == ["b"]
    tab.done()


@pytest.mark.parametrize("size", [(700, 480), (800, 700), (900, 480), (1000, 700)])
def test_windows_of_middle_width_keep_the_python_beside_another_pane(browser, file, size):
    tab = Tab(browser, file, size=size)
    assert seen(tab) == ["python", "b"]
    assert tab.lit("b")
    for name in ("a", "stages", "drawer", "b"):
        tab.page.click(f'#switch [data-pane="{name}"]')
        assert seen(tab) == ["python", name]
        assert tab.page.evaluate(OVERFLOW) == []
    height = tab.page.evaluate("document.querySelector('#b .scroll').clientHeight")
    assert height > 0.7 * size[1]
    tab.done()


def test_low_windows_keep_their_height_for_code(browser, file):
    tab = Tab(browser, file, size=(1100, 480))
    assert tab.page.evaluate("document.querySelector('#b .scroll').clientHeight") > 330
    assert not tab.page.is_visible("#body")
    tab.page.click("#tab-roofline")
    assert tab.page.is_visible("#body svg")
    assert tab.page.evaluate("document.querySelector('#b .scroll').clientHeight") > 120
    tab.page.click("#tab-roofline")
    assert not tab.page.is_visible("#body")
    assert tab.page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    ) == [
        1100,
        480,
    ]
    tab.done()


@pytest.mark.parametrize("width", [700, 900, 1000])
def test_the_frame_of_a_notebook(browser, tmp_path, width):
    """In the sandbox of the frame, which has no address and no storage."""
    data = SAMPLES["saxpy"].look("llvm")
    outer = tmp_path / "notebook.html"
    outer.write_text(
        f"<!doctype html><body style='margin:0;width:{width}px'>{frame(Comparison((data,)))}",
        encoding="utf-8",
    )
    page = browser.new_page(viewport={"width": width, "height": 600})
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(outer.as_uri())
    inner = page.frames[1]
    inner.wait_for_function("document.documentElement.dataset.ready === '1'")
    assert inner.evaluate(VISIBLE) == ["python", "b"]
    before = inner.eval_on_selector_all("#python .lit .n", "rows => rows.map(r => +r.textContent)")
    assert len(before) == 1
    inner.click("#python .row:not(.lit):not(.remark) >> nth=1")
    assert inner.eval_on_selector_all("#python .lit .n", "rows => rows.map(r => +r.textContent)") != before
    assert inner.evaluate(OVERFLOW) == []
    assert wrong == []
    page.close()


TEXTS = """() => {  // [text, class, colour, what is behind it] of every text that can be seen
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const skipped = "option, .under, script, noscript, dialog, #said, svg";
  const parse = text => {
    const m = text.match(/[\\d.]+/g).map(Number);
    return text.startsWith("color(") ? [...m.slice(0, 3).map(x => 255 * x), m[3] ?? 1] : [...m.slice(0, 3), m[3] ?? 1];
  };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const el = node.parentElement, text = node.textContent.trim();
    if (!text || !el.offsetParent || el.closest(skipped) || getComputedStyle(el).visibility === "hidden") continue;
    const chain = [];
    for (let e = el; e; e = e.parentElement) chain.unshift(getComputedStyle(e));
    let ground = [255, 255, 255, 1], opacity = 1;
    chain.forEach(style => {
      ground = over(parse(style.backgroundColor), ground);
      opacity *= +style.opacity;
    });
    const colour = parse(getComputedStyle(el).color);
    colour[3] *= opacity;
    found.push([text.slice(0, 40), el.className, over(colour, ground).slice(0, 3), ground.slice(0, 3)]);
  }
  return found;
}"""


def luminance(channels):
    linear = [c / 255 / 12.92 if c <= 10.3 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(browser, tmp_path, scheme):
    """A contrast of 4.5 or more, with what is dimmed, lit, under the pointer, and in every panel."""
    both = Comparison(tuple(SAMPLES[n].look(t) for n, t in (("heat", "llvm"), ("heat", "nvvm:sm_90a"))))
    tab = Tab(browser, real.written(tmp_path, both), color_scheme=scheme)
    poor = {}
    for keys in (
        ("s",),
        ("r",),
        ("f",),
        ("w",),
        ("o",),
        ("i",),
        ("x",),
        ("/", "a"),
        ("Escape", "d"),
        ("d", "m"),
    ):
        tab.press(*keys)
        for text, kind, colour, ground in tab.page.evaluate(TEXTS):
            if contrast(colour, ground) < 4.5:
                poor[re.sub(r"\d+", "0", f"{kind} {text}")] = round(contrast(colour, ground), 2)
    assert poor == {}, "\n".join(f"{k}: {v}" for k, v in poor.items())
    tab.done()
