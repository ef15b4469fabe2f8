"""The page in a real browser: what lights up is what the data says, with the mouse and with keys alone."""

from __future__ import annotations

import random

import pytest

from pykern.explorer.comparison import Comparison
from pykern.explorer.data import Pin
from tests.explorer import browser as real
from tests.explorer.browser import Tab
from tests.explorer.samples import SAMPLES

pytestmark = pytest.mark.slow

TARGETS = ("llvm", "nvvm:sm_90a", "spirv:opencl")
CLICKED = 2
"""Lines of each file that are clicked: a click and what is seen of it takes seconds."""


@pytest.fixture(scope="module", params=TARGETS)
def shown(request, tmp_path_factory):
    data = SAMPLES["heat"].look(request.param)
    return data, real.written(tmp_path_factory.mktemp("explorer"), Comparison((data,)))


@pytest.fixture
def tab(browser, shown):
    opened = Tab(browser, shown[1])
    yield opened
    opened.done()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SAMPLES)
def test_every_line_lights_what_the_data_says(browser, tmp_path, name, target):
    """In every stage: as sets in the page; of some lines also as rows, in the first, the last and a stage between."""
    data = SAMPLES[name].look(target)
    opened = Tab(browser, real.written(tmp_path, Comparison((data,))))
    last = len(data.stages) - 1
    dice = random.Random(name + target)
    pins = [Pin(-1, s.first + n, s.file) for s in data.sources for n in range(len(s.lines))]
    found = opened.page.evaluate(
        "explorer.panes[0].rows.filter(row => row.line !== undefined).map(row => [row.line, explorer.lit(row)])"
    )
    assert found == [[pin.line, [list(x) for x in data.lit(pin)]] for pin in pins]
    for source in data.sources:
        rows = range(len(source.lines))
        for row in dice.sample(rows, min(CLICKED, len(rows))):
            line = source.first + row
            opened.click_line(line)
            expected = data.lit(Pin(-1, line, source.file))
            assert opened.all_lit() == [list(x) for x in expected], source.lines[row]
            between = dice.randrange(last + 1)
            opened.page.evaluate("n => explorer.go('b', n)", between)
            for pane, stage in (("a", 0), ("b", between)):
                assert set(opened.lit(pane)) == set(expected[stage]) & opened.present(pane)
            opened.page.evaluate("n => explorer.go('b', n)", last)
            assert set(opened.lit("b")) == set(expected[last]) & opened.present("b")
            assert not expected[last] or opened.lit("b"), "a lit row is scrolled to"
            assert opened.lit("python") == [line]
    opened.done()


def test_any_line_of_any_stage_lights_what_the_data_says(tab, shown):
    data, _ = shown
    dice = random.Random(20)
    for _ in range(60):
        stage = dice.randrange(len(data.stages))
        pin = Pin(stage, dice.randint(1, len(data.stages[stage].text.splitlines())))
        plumbing = dice.random() < 0.3
        tab.page.evaluate("on => { explorer.state.plumbing = on }", plumbing)
        lit = tab.page.evaluate("pin => explorer.lit(pin)", {"stage": pin.stage, "line": pin.line})
        assert lit == [list(x) for x in data.lit(pin, plumbing)]


def test_click_on_an_op_lights_its_line_of_python_and_follows_it(tab, shown):
    data, _ = shown
    row = next(n for n, t in enumerate(data.stages[0].text.splitlines(), 1) if "memref.store" in t)
    tab.click_line(row, "a")
    pin = Pin(0, row)
    assert tab.lit("python") == [data.python_of(pin)[1]]
    tab.press("m")
    heads = tab.page.evaluate("explorer.panes[2].rows.flatMap(r => r.head === undefined ? [] : [r.head])")
    lit = data.lit(pin)
    assert heads == [s.name for n, s in enumerate(data.stages) if lit[n] and data.changed(n)]
    assert len(heads) >= 5
    tab.press("m")
    assert not tab.state()["follow"]


def test_a_second_line_in_another_colour(tab, shown):
    data, _ = shown
    source = data.sources[0]
    first, second = source.first + 3, source.first + 5
    tab.click_line(first)
    tab.click_line(second, modifiers=["Shift"])
    assert tab.lit("python") == [first]
    assert tab.lit("python", "lit2") == [second]
    expected = data.lit(Pin(-1, second, source.file))
    assert set(tab.lit("a", "lit2")) == set(expected[0]) & tab.present("a") != set()
    tab.press("Escape")
    assert tab.lit("python", "lit2") == []
    assert tab.lit("python") == [first]


def test_pointing_lights_without_picking(tab, shown):
    data, _ = shown
    source = data.sources[0]
    tab.press("Escape")  # the line that the page opens with
    tab.page.hover('#python .row[data-n="0"]')
    row = next(n for n, text in enumerate(source.lines) if "t[i + 1, j]" in text)
    n = tab.page.evaluate(
        "line => explorer.panes[0].rows.findIndex(r => r.line === line)", source.first + row
    )
    tab.page.hover(f'#python .row[data-n="{n}"]')
    tab.page.wait_for_function("document.querySelector('#a .row.hover')")
    expected = data.lit(Pin(-1, source.first + row, source.file))
    assert set(tab.lit("a", "hover")) == set(expected[0]) & tab.present("a")
    assert tab.state()["pin"] is None


def test_keys_alone(tab, shown):
    """A walk without a mouse: every key does its work, and the focus is always to be seen."""
    data, _ = shown
    keyboard, last = tab.page.keyboard, len(data.stages) - 1
    tab.press("1", "Home")
    line = data.sources[0].first + 3
    while tab.page.evaluate("explorer.panes[0].rows[explorer.panes[0].cursor].line") != line:
        keyboard.press("ArrowDown")
    keyboard.press("Enter")
    assert tab.lit("python") == [line]
    keyboard.press("k")
    before = tab.state()["b"]
    assert before < last
    assert data.changed(before)
    keyboard.press("j")
    assert tab.state()["b"] == last
    keyboard.press("]")
    assert tab.state()["a"] > 0
    keyboard.press("[")
    assert tab.state()["a"] == 0
    tab.press("3", "n")
    cursor = tab.page.evaluate("explorer.panes[2].rows[explorer.panes[2].cursor].line")
    assert cursor == min(data.lit(Pin(-1, line, data.sources[0].file))[last])
    tab.press("n", "N")
    assert tab.page.evaluate("explorer.panes[2].rows[explorer.panes[2].cursor].line") == cursor
    drawers = ("summary", "resources", "roofline", "memory", "counts", "remarks", "reproduce")
    for key, drawer in zip("srfwoix", drawers, strict=True):
        keyboard.press(key)
        assert tab.page.get_attribute(f"#tab-{drawer}", "aria-selected") == "true"
        assert tab.page.inner_text("#body").strip()
    keyboard.press("?")
    assert tab.page.locator("#help[open]").count() == 1
    keyboard.press("Escape")
    tab.page.wait_for_function("!document.querySelector('#help[open]')")
    keyboard.press("Escape")
    assert tab.lit("python") == []
    keyboard.press("/")
    keyboard.type("fmul" if "spirv" in data.target else "mulf")
    hits = tab.page.locator(".hit")
    assert hits.count() > 0
    keyboard.press("Enter")
    keyboard.press("Escape")
    assert tab.state()["drawer"] == "summary"
    for _ in range(12):  # whatever Tab comes to can be seen to have the focus
        keyboard.press("Tab")
        style = tab.page.evaluate(
            """() => {
            const el = document.activeElement, pane = el.closest(".pane");
            const ring = getComputedStyle(el).outlineStyle !== "none" || el.tagName === "BODY";
            return ring || (pane && getComputedStyle(pane.querySelector("h2")).boxShadow !== "none");
        }"""
        )
        assert style


def test_a_link_comes_back_to_the_view(browser, tab, shown):
    source = shown[0].sources[0]
    tab.click_line(source.first + 3)
    tab.click_line(source.first + 2, modifiers=["Shift"])
    tab.press("k", "k", "]", "p", "d", "t", "w")
    hash = tab.page.evaluate("location.hash")
    other = Tab(browser, shown[1], hash)
    assert other.state() == tab.state()
    assert tab.state()["diff"] == "side"
    assert tab.state()["second"] is not None
    assert other.page.evaluate("location.hash") == hash
    assert other.lit("python") == tab.lit("python") != []
    other.done()


@pytest.mark.parametrize("shown", ["llvm"], indirect=True)
@pytest.mark.parametrize(
    "hash",
    [
        "#a=99&b=-1&pin=s99.9",
        "#pin=s0.999999",
        "#a=x&pin=<b>",
        "#b=1e9&diff=2",
        "#pin=p7.0.1&drawer=__proto__&only=x",
    ],
)
def test_a_link_that_fits_nothing_shows_the_page(browser, shown, hash):
    other = Tab(browser, shown[1], hash)
    assert other.state()["pin"] is None
    assert other.state()["drawer"] == "summary"
    assert other.page.locator("#b .row").count() > 0
    other.done()
