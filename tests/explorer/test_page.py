"""The page is one well-formed file that asks for nothing, and no text of a user gets out of its place."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import pykern as pk
from pykern import explorer
from pykern.explorer import packing
from pykern.explorer.comparison import Comparison
from pykern.explorer.page import page
from tests.explorer.samples import HOSTILE, SAMPLES

VOID = {"meta", "br", "img", "input", "link", "hr"}


class Reader(HTMLParser):
    """Elements of a document; fails where one is closed that is not open."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        where = self.open[-1] if self.open else ""
        self.inside[where] = self.inside.get(where, "") + data


def alone(sample, target="llvm"):
    return Comparison((sample.look(target),))


def unpacked(text: str) -> dict:
    packed = re.search(r'<script type="application/octet-stream" id="data">([\w+/=]*)</script>', text)
    assert packed is not None
    return json.loads(zlib.decompress(base64.b64decode(packed[1]), -zlib.MAX_WBITS))


@pytest.mark.parametrize("sample", [SAMPLES["saxpy"], HOSTILE], ids=["saxpy", "hostile"])
def test_page_is_well_formed(sample):
    read = Reader(page(alone(sample)))
    assert read.open == []
    tags = [tag for tag, _ in read.elements]
    assert tags.count("script") == 2
    assert tags.count("html") == tags.count("body") == tags.count("title") == 1
    assert not {"img", "link", "iframe", "object"} & set(tags)


def test_page_asks_for_nothing():
    read = Reader(page(alone(SAMPLES["saxpy"])))
    assert not [a for _, a in read.elements if {"src", "href", "action", "data"} & set(a)]
    policy = [a["content"] for tag, a in read.elements if tag == "meta" and "content" in a]
    assert any(p and p.startswith("default-src 'none'") for p in policy)


def test_large_constants_are_left_out():
    data = SAMPLES["saxpy"].look("llvm")
    numbers = ", ".join(map(str, range(3000)))
    line = f"  %cst = arith.constant dense<[{numbers}]> : tensor<3000xf32>"
    text = "\n".join([line, *data.stages[0].text.splitlines()[1:]])
    shown = packing.subject(replace(data, stages=(replace(data.stages[0], text=text), *data.stages[1:])))
    assert shown["stages"][0]["lines"][0] == "  %cst = arith.constant dense<…> : tensor<3000xf32>"


def test_the_page_is_light():
    web = Path(explorer.__file__).parent / "web"
    assert sum(f.stat().st_size for f in web.iterdir() if f.suffix in (".js", ".css")) < 125_000
    assert len(page(alone(SAMPLES["heat"]))) < 200_000


def test_hostile_text_stays_text():
    text = page(alone(HOSTILE))
    assert "<img" not in text
    assert text.count("<script") == 2
    read = Reader(text)
    assert "</script><script>window.hostile = 1</script>" in read.inside["pre"]
    data = unpacked(text)
    assert any("🙂" in line and "</script>" in line for line in data["subjects"][0]["source"][0]["lines"])


def test_page_holds_the_data():
    data = alone(SAMPLES["heat"], "nvvm:sm_80")
    text = page(data)
    assert unpacked(text) == json.loads(json.dumps(packing.packed(data)))
    assert len(text) < 200_000


def test_explore_writes_where_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    sample = SAMPLES["saxpy"]
    asked = pk.explore(sample.kernel, *sample.args, ndrange="n", to=tmp_path / "page.html")
    assert asked.path.read_text(encoding="utf-8") == page(asked.data)
    monkeypatch.chdir(tmp_path)
    named = pk.explore(sample.kernel, *sample.args, ndrange="n", target="spirv:vulkan")
    assert named.path == Path("saxpy-spirv-vulkan.html")
    assert named.path.exists()
    frame = Reader(named._repr_html_())
    assert "allow-same-origin" not in frame.elements[0][1]["sandbox"]
    assert frame.elements[0][1]["srcdoc"] == page(named.data)
    assert frame.elements[-1][1]["href"] == named.path.resolve().as_uri()


def test_notebooks_show_what_was_lowered_and_what_was_launched():
    sample = SAMPLES["saxpy"]
    lowered = sample.kernel.lower(*sample.args, ndrange="n", target="spirv:vulkan")
    shown = Reader(lowered._repr_html_()).elements
    assert [tag for tag, _ in shown] == ["iframe"]
    assert "allow-same-origin" not in shown[0][1]["sandbox"]
    assert unpacked(shown[0][1]["srcdoc"])["subjects"][0]["kernel"]["target"] == "spirv:vulkan"

    @pk.kernel
    def halve(y, x):
        i = pk.index()
        y[i] = x[i] / 2  # <b>

    assert "# &lt;b&gt;" in halve._repr_html_()
    x = np.ones(8, np.float32)
    halve(x.copy(), x, ndrange=8)
    (element,) = Reader(halve._repr_html_()).elements
    assert unpacked(element[1]["srcdoc"])["subjects"][0]["kernel"]["signature"].startswith("y: f32[")


def test_a_new_number_of_a_value_is_no_change():
    read = packing.packed(alone(SAMPLES["saxpy"]))["subjects"][0]["stages"]
    assert all(s["added"] == s["removed"] == 0 for s in read[1:] if not s["changed"])
    expanded = next(s for s in read if s["name"] == "kern-expand-ndrange")
    assert expanded["added"] >= 2
    assert expanded["removed"] >= 1
    assert expanded["added"] < len(expanded["lines"])
