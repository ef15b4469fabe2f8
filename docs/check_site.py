"""Check every link inside the built site: the file is there, and so is the place in it.

    python docs/check_site.py docs/_build/html

Sphinx checks what is written as a reference; this looks at the pages themselves, with raw HTML, pictures and frames.
Links to other sites are left to `make check-external-links`, which needs a network.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


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


def main(arguments: list[str]) -> None:
    root = Path(arguments[0]).resolve()
    if not (root / "index.html").exists():
        sys.exit(f"{root} holds no site: make docs")
    wrong = list(broken(root))
    sys.exit("\n".join(wrong) if wrong else None)


if __name__ == "__main__":
    main(sys.argv[1:])
