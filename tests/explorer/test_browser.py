"""The page in a real browser: what lights up is what the data says, with the mouse and with keys alone."""

from __future__ import annotations

import difflib
import os
import random
import re
import shutil

import pytest

from pykern.artifact import Stage
from pykern.explorer.data import Exploration, Pin, SourceText, lineage_of
from pykern.explorer.page import page
from pykern.lineage import Lineage, Place
from tests.explorer.samples import HOSTILE, SAMPLES

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: pip install playwright"
)

pytestmark = pytest.mark.slow

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def browser():
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if not os.environ.get("PYKERN_TEST_BROWSER"):
        pytest.skip(
            "PYKERN_TEST_BROWSER=1 runs the tests in a browser: they want a machine that is not loaded"
        )
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is on PATH")
    with sync_api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()


class Tab:
    """A page that is open, with what went wrong in it."""

    def __init__(self, browser, file, hash="", **options):
        self.context = browser.new_context(viewport={"width": 1400, "height": 850}, **options)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        self.page.on("request", lambda asked: self.requests.append(asked.url))
        self.requests: list[str] = []
        self.page.goto(file.as_uri() + hash)
        self.page.wait_for_function("document.documentElement.dataset.ready === '1'")
        self.settle()

    def lit(self, pane):
        """Numbers of the lit rows of a pane that are in the document."""
        return self.page.eval_on_selector_all(f"#{pane} .row.lit .n", "rows => rows.map(r => +r.textContent)")

    def present(self, pane):
        return set(
            self.page.eval_on_selector_all(f"#{pane} .row .n", "rows => rows.map(r => +r.textContent)")
        )

    def settle(self):
        """Rows are drawn anew in a frame of their own: a press and a release must meet the same one."""
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def state(self):
        return self.page.evaluate("({...explorer.state})")

    def done(self):
        assert self.wrong == []
        assert [url for url in self.requests if not url.startswith(("file:", "blob:"))] == []
        self.context.close()


@pytest.fixture(scope="module", params=["llvm", "nvvm:sm_80", "spirv:vulkan"])
def shown(request, tmp_path_factory):
    data = SAMPLES["heat"].look(request.param)
    file = tmp_path_factory.mktemp("explorer") / "page.html"
    file.write_text(page(data), encoding="utf-8")
    return data, file


@pytest.fixture
def tab(browser, shown):
    opened = Tab(browser, shown[1])
    yield opened
    opened.done()


def test_click_on_python_lights_what_the_data_says(tab, shown):
    data, _ = shown
    source = data.sources[0]
    for row, text in enumerate(source.lines):
        line = source.first + row
        for _ in range(5):  # on a loaded machine a press and its release may meet different rows
            tab.settle()
            tab.page.click(f'#python .row[data-n="{row}"]')
            if tab.page.evaluate("explorer.state.pin && explorer.state.pin.line") == line:
                break
        expected = data.lit(Pin(-1, line, source.file))
        assert tab.page.evaluate("explorer.lit(explorer.state.pin)") == [list(x) for x in expected], text
        for pane, stage in (("a", 0), ("b", len(data.stages) - 1)):
            assert set(tab.lit(pane)) == set(expected[stage]) & tab.present(pane)
            assert not expected[stage] or tab.lit(pane), "a lit row is scrolled to"
        assert tab.lit("python") == [line]


def test_click_on_any_stage_lights_what_the_data_says(tab, shown):
    data, _ = shown
    dice = random.Random(20)
    for _ in range(40):
        stage = dice.randrange(len(data.stages))
        pin = Pin(stage, dice.randint(1, len(data.stages[stage].text.splitlines())))
        plumbing = dice.random() < 0.3
        tab.page.evaluate("on => { explorer.state.plumbing = on }", plumbing)
        lit = tab.page.evaluate("pin => explorer.lit(pin)", {"stage": pin.stage, "line": pin.line})
        assert lit == [list(x) for x in data.lit(pin, plumbing)]


def test_click_on_an_op_lights_its_line_of_python(tab, shown):
    data, _ = shown
    row = next(n for n, t in enumerate(data.stages[0].text.splitlines()) if "memref.store" in t)
    tab.page.eval_on_selector("#a .scroll", f"el => {{ el.scrollTop = {18 * row - 100} }}")
    tab.page.click(f'#a .row[data-n="{row}"] .dot')
    assert tab.lit("python") == [data.python_of(Pin(0, row + 1))[1]]
    tab.page.keyboard.press("m")
    heads = tab.page.eval_on_selector_all("#b .row.head", "rows => rows.map(r => r.textContent)")
    assert heads[0] == data.stages[0].name
    assert len(heads) >= 5


def test_keys_alone(tab, shown):
    data, _ = shown
    keyboard, last = tab.page.keyboard, len(data.stages) - 1
    tab.page.focus("#python .scroll")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        keyboard.press(key)
    assert tab.lit("python") == [data.sources[0].first + 3]
    keyboard.press("k")
    before = tab.state()["b"]
    assert before < last
    assert data.changed(before)
    keyboard.press("j")
    assert tab.state()["b"] == last
    keyboard.press("]")
    assert tab.state()["a"] > 0
    keyboard.press("d")
    assert tab.page.locator("#b .row.added").count() > 0
    keyboard.press("d")
    keyboard.press("n")
    keyboard.press("?")
    assert tab.page.locator("#help[open]").count() == 1
    keyboard.press("Escape")
    assert tab.page.locator("#help[open]").count() == 0
    keyboard.press("Escape")
    assert tab.lit("python") == []
    keyboard.press("/")
    keyboard.type("fmul" if "spirv" in data.target else "mulf")
    assert tab.page.locator(".found").count() > 0


def test_a_link_comes_back_to_the_view(browser, tab, shown):
    tab.page.click('#python .row[data-n="3"]')
    for key in ("k", "k", "]", "p", "d"):
        tab.page.keyboard.press(key)
    hash = tab.page.evaluate("location.hash")
    other = Tab(browser, shown[1], hash)
    assert other.state() == tab.state()
    assert other.page.evaluate("location.hash") == hash
    assert other.lit("python") == tab.lit("python") != []
    other.done()


@pytest.mark.parametrize("shown", ["llvm"], indirect=True)
@pytest.mark.parametrize("hash", ["#a=99&b=-1&pin=s99.9", "#pin=s0.999999", "#a=x&pin=<b>", "#b=1e9&diff=2"])
def test_a_link_that_fits_nothing_shows_the_page(browser, shown, hash):
    other = Tab(browser, shown[1], hash)
    assert other.state()["pin"] is None
    assert other.page.locator("#b .row").count() > 0
    other.done()


def luminance(colour):
    channels = [int(c) / 255 for c in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


COLOURS = ("ink", "dim", "keyword", "string", "number", "value", "symbol", "accent",
           "kern", "arith", "memref", "scf", "linalg", "gpu", "llvm", "func")  # fmt: skip
READ = """names => names.map(name => {
  const el = document.createElement("i");
  el.style.color = `var(--${name})`;
  document.body.append(el);
  const colour = getComputedStyle(el).color;
  el.remove();
  return colour;
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_can_be_read(browser, tmp_path, scheme):
    file = tmp_path / "page.html"
    file.write_text(page(SAMPLES["saxpy"].look("llvm")), encoding="utf-8")
    opened = Tab(browser, file, color_scheme=scheme)
    grounds = []
    for _ in range(2):
        paper, lit, *inks = opened.page.evaluate(READ, ["paper", "lit", *COLOURS])
        grounds.append(luminance(paper) < 0.2)
        for name, ink in zip(COLOURS, inks, strict=True):
            assert contrast(ink, paper) >= 4.5, (name, ink, paper)
            assert contrast(ink, lit) >= 4.5, (name, ink, lit)
        opened.page.keyboard.press("t")
    assert grounds == [scheme == "dark", scheme != "dark"]
    opened.done()


def test_difference_gives_back_both_texts_and_is_short(tab, shown):
    data, _ = shown
    dice = random.Random(3)
    pairs = [(n, n + 1) for n in range(0, len(data.stages) - 3, 4)]
    pairs += [tuple(dice.choices(range(len(data.stages) - 2), k=2)) for _ in range(5)]
    for a, b in pairs:
        before, after = (data.stages[n].text.splitlines() for n in (a, b))
        rows = tab.page.evaluate("([x, y]) => explorer.difference(x, y)", [before, after])
        assert [r[1] for r in rows if r[0] != "+"] == list(range(1, len(before) + 1))
        assert [r[2] for r in rows if r[0] != "-"] == list(range(1, len(after) + 1))
        plain = [[re.sub(r"%[\w#]+", "%", t) for t in text] for text in (before, after)]
        same = [(x, y) for sign, x, y in rows if sign == " "]
        assert all(plain[0][x - 1] == plain[1][y - 1] for x, y in same)
        blocks = difflib.SequenceMatcher(None, *plain, autojunk=False).get_matching_blocks()
        assert len(same) >= sum(block.size for block in blocks)


def test_hostile_text_runs_nothing(browser, tmp_path):
    file = tmp_path / "hostile.html"
    file.write_text(page(HOSTILE.look("llvm")), encoding="utf-8")
    opened = Tab(browser, file)
    assert opened.page.evaluate("window.hostile") is None
    assert "<img src=x" in opened.page.inner_text("#python")
    opened.page.fill("#search", "<img src=x onerror=window.hostile=1>")
    assert opened.page.evaluate("window.hostile") is None
    opened.done()


def test_a_hundred_thousand_lines_stay_quick(browser, tmp_path):
    count, stages = 10_000, []
    for n in range(10):
        text = "\n".join(f"  %{k} = arith.addi %{k - 1}, %{n} : i64" for k in range(1, count + 1))
        places = tuple(Place(0, 1 + k % 50, 4) for k in range(count))
        parents = tuple((k,) for k in range(1, count + 1)) if n else ((),) * count
        stages.append(Stage(f"pass{n}", text, 1.0, "mlir", Lineage(("k.py",), "o" * count, parents, places)))
    source = SourceText("k", "k.py", 1, tuple(f"    x{n} = {n}" for n in range(50)))
    data = Exploration("k", "llvm", "", (source,), tuple(stages))
    file = tmp_path / "long.html"
    file.write_text(page(data), encoding="utf-8")
    opened = Tab(browser, file)
    took = opened.page.evaluate(
        """() => {
        const started = performance.now();
        document.querySelector('#python .row[data-n="7"]').click();
        return performance.now() - started;
    }"""
    )
    assert opened.page.evaluate("explorer.lit(explorer.state.pin)[9].length") == count // 50
    assert opened.page.locator("#b .row").count() < 200
    assert took < 1000
    assert lineage_of(data.stages[9]).mapped() == 1
    opened.done()
