"""How Sphinx builds the site: `make docs`.

Comes in: the Markdown here, examples/gallery, and what `extensions/` writes from the sources. Goes out: HTML, every
warning an error. Read next: `extensions/generated.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE)]

import os  # noqa: E402

os.environ.setdefault("PYKERN_CACHE_DIR", str(HERE / "_build" / "kernels"))
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])

import pykern  # noqa: E402

project = "pykern"
author = "the pykern authors"
project_copyright = "the pykern authors"
version = release = pykern.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "extensions.generated",
]
exclude_patterns = [
    "_build",
    "_generated",
    "errors/README.md",
    "gallery/*.ipynb",
    "gallery/*.py",
    "sg_execution_times.rst",
]
# sphinx-gallery pickles nothing of ours; its scrapers are functions, which Sphinx would like to pickle.
suppress_warnings = ["config.cache"]

html_theme = "furo"
html_title = "pykern"
html_static_path = ["_static", "_generated/static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_search_scorer = str(HERE / "search_scorer.js")
templates_path = []

myst_enable_extensions = ["colon_fence", "deflist", "substitution"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

smartquotes = False  # they reach code in the cells of tables
default_role = "literal"  # docstrings name things in single backticks
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
add_module_names = False

copybutton_prompt_text = r">>> |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1000,
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),
    "matplotlib_animations": False,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
    "thumbnail_size": (400, 300),
    "copyfile_regex": r".*\.npz",
}

linkcheck_ignore = [r"^#"]
linkcheck_timeout = 20
