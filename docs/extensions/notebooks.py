"""The notebooks, as files to download: they are kept as percent scripts, and made here."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "docs" / "_generated" / "static"


def files() -> list[Path]:
    """The notebooks as files of the site."""
    return [STATIC / f"{script.stem}.ipynb" for script in sorted((ROOT / "notebooks").glob("*.py"))]


def page() -> str:
    import jupytext

    STATIC.mkdir(parents=True, exist_ok=True)
    items = []
    for script in sorted((ROOT / "notebooks").glob("*.py")):
        notebook = jupytext.read(script)
        for number, cell in enumerate(notebook.cells):
            cell["id"] = f"cell-{number}"  # else chance makes one
        file = STATIC / f"{script.stem}.ipynb"
        jupytext.write(notebook, file)
        title = next(line[2:] for line in notebook.cells[0].source.splitlines() if line.startswith("# "))
        items.append(f'<li><a href="../_static/{file.name}" download>{title}</a></li>')
    return "```{raw} html\n<ul>\n" + "\n".join(items) + "\n</ul>\n```"
