"""Check every link inside the built site: the file is there, and so is the place in it. And its search: the field's
words lead to what pykern has for them.

    python docs/check_site.py docs/_build/html

Sphinx checks what is written as a reference; this looks at the pages themselves, with raw HTML, pictures and frames.
Links to other sites are left to `make check-external-links`, which needs a network.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from extensions.search_words import GUIDES, WORDS


class Page(HTMLParser):
    """The links of a page, and the places in it that links can name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id" and value:
                self.places.add(value)


def broken(root: Path) -> Iterator[str]:
    """Each link that leads nowhere, with its page."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in root.rglob("*.html")}
    for path, page in sorted(pages.items()):
        if "_static" in path.relative_to(root).parts:
            continue  # pages of the explorer: their links are made by their script
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{path.relative_to(root)}: no file {link}"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                yield f"{path.relative_to(root)}: no place {link}"


def unfound(root: Path) -> Iterator[str]:
    """Each word of `extensions.search_words` that the index of the search has no main entry for."""
    text = (root / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    for table, page_of in ((WORDS, lambda _: "reference/api"), (GUIDES, "guides/{}".format)):
        for name, words in table.items():
            for word in words:
                found = index["indexentries"].get(word.lower(), [])
                if not any(main and index["docnames"][page] == page_of(name) for page, _, main in found):
                    yield f"the search does not find {name} for {word!r}"


def curled(root: Path) -> Iterator[str]:
    """Code in cells of tables whose quotes are no longer those of Python."""
    for path in sorted(root.glob("reference/*.html")):
        for code in re.findall(
            r'<code class="lines">.*?</code>', path.read_text(encoding="utf-8"), re.DOTALL
        ):
            if re.search("[\u2018\u2019\u201c\u201d]", code):
                yield f"{path.relative_to(root)}: quotes of prose in {re.sub('<[^>]*>', ' ', code)}"


def main(arguments: list[str]) -> None:
    root = Path(arguments[0]).resolve()
    if not (root / "index.html").exists():
        sys.exit(f"{root} holds no site: make docs")
    wrong = [*broken(root), *unfound(root), *curled(root)]
    sys.exit("\n".join(wrong) if wrong else None)


if __name__ == "__main__":
    main(sys.argv[1:])
