# SPDX-License-Identifier: BSD-3-Clause
"""How Sphinx builds these pages: ``make docs``. Nothing is fetched from outside."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import aucmax

# The sets on these pages are small: threads would wait for each other, above all on a
# busy machine. Read when the models are first imported.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "aucmax"
author = "The aucmax developers"
copyright = author
version = release = aucmax.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx_copybutton",
    "sphinx_design",
    "executed",
    "mathml",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
root_doc = "index"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
# Tables of results start below the first level of headings.
suppress_warnings = ["myst.header"]

autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {
    # What scikit-learn and Python give to every class of theirs is not repeated.
    "inherited-members": "BaseEstimator, ClassifierMixin, TransformerMixin, tuple, "
    "ClassNamePrefixFeaturesOutMixin, _MetadataRequester, _SetOutputMixin, Exception",
    "exclude-members": "set_fit_request, set_partial_fit_request, set_score_request, "
    "set_transform_request, add_note, with_traceback",
}
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Examples in docstrings are run by the tests.
doctest_test_doctest_blocks = ""

copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "aucmax"
html_static_path = ["_static"]
html_css_files = ["aucmax.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_sidebars = {"examples": [], "changelog": [], "contributing": []}
html_theme_options = {
    "footer_end": [],
    "footer_start": ["copyright"],
    "header_links_before_dropdown": 6,
    "logo": {"text": "aucmax"},
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_nav_level": 2,
    "show_toc_level": 2,
}

# Where files of the repository are found in these pages, for links between them.
PAGES = {
    "CONTRIBUTING.md": "/contributing.md",
    "benchmarks/front_door/README.md": "/evidence/front_door.md",
    "papers/results/README.md": "/evidence/papers.md",
    "benchmarks/speed/README.md": "/evidence/speed.md",
}
PAGES |= {
    f"papers/results/{key}/TABLES.md": f"/evidence/{key}.md"
    for key in ("gao2013", "kakkar2017", "khalid2018", "natole2019", "szorenyi2017")
}


def move_links(app: Any, path: Path, docname: str, content: list[str]) -> None:
    """Let links in an included file of the repository lead to its page here."""
    root = HERE.parent
    folder = (HERE / path).resolve().parent

    def move(match: re.Match[str]) -> str:
        text, target = match.groups()
        file = (folder / target).resolve()
        if not file.exists():
            return match[0]
        name = file.relative_to(root).as_posix()
        return f"[{text}]({PAGES[name]})" if name in PAGES else f"{text} (`{name}`)"

    content[0] = re.sub(r"\[([^]]+)\]\(([^):#]+)\)", move, content[0])


def escape_underscores(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Keep ``shape (n_features_in_,)`` from being read as a link."""
    for i, line in enumerate(lines):
        if re.match(r"\s*[\w*, ]+ : ", line):
            lines[i] = re.sub(r"(?<=\w)_(?=[,)])", r"\_", line)


def setup(app: Any) -> None:
    """Connect what is defined here."""
    # Before numpydoc, which has the usual priority.
    app.connect("autodoc-process-docstring", escape_underscores, priority=400)
    app.connect("include-read", move_links)
