# SPDX-License-Identifier: BSD-3-Clause
"""The pages in docs are whole: names, links and examples. ``make docs`` builds them."""

import ast
import doctest
import importlib
import re
import tomllib
from pathlib import Path

import pytest

import aucmax

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in DOCS.rglob("*.md")
    if not {"_build", "generated"} & set(page.relative_to(DOCS).parts)
)
API = (DOCS / "api.rst").read_text(encoding="utf-8")
MODULES = ("datasets", "distributed", "io", "metrics", "plots", "preparation")
BLOCK = r"^```\{%s\}[^\n]*\n(.*?)^```"


def blocks(page: Path, directive: str) -> list[str]:
    """Return the contents of all blocks of a directive."""
    text = page.read_text(encoding="utf-8")
    return re.findall(BLOCK % directive, text, flags=re.MULTILINE | re.DOTALL)


def toctree(page: Path) -> list[str]:
    """Return the pages that a page has below it."""
    lines = "\n".join(blocks(page, "toctree")).splitlines()
    return [line for line in lines if line and not line.startswith(":")]


def listed(module: str) -> set[str]:
    """Return the names that the API page lists for a module."""
    parts = re.split(r"^\.\. currentmodule:: (\S+)$", API, flags=re.MULTILINE)
    return {
        name
        for where, text in zip(parts[1::2], parts[2::2], strict=True)
        if where == module
        for name in re.findall(r"^   (\w+)$", text, flags=re.MULTILINE)
    }


def name_page(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def test_install_page_lists_every_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]["optional-dependencies"]
    text = (DOCS / "guide" / "install.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)
    assert set(listed) == set(extras) - {"dev", "docs"}


def test_api_lists_what_the_package_has():
    assert listed("aucmax") == set(aucmax.__all__) - set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_api_lists_what_each_module_has(module):
    found = getattr(aucmax, module)
    # What is in two modules is told of once.
    own = {
        name
        for name in found.__all__
        if module == "io" or name not in aucmax.io.__all__ or name == "load"
    }
    assert listed(f"aucmax.{module}") == own


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_links_and_files_exist(page):
    text = page.read_text(encoding="utf-8")
    code = r"^(`{3,})(?!\{(?:toctree|include|literalinclude|image)).*?^\1$"
    prose = re.sub(code, "", text, flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose)
    links += re.findall(r"\{(?:include|literalinclude|image)\} (\S+)", prose)
    for link in links:
        assert (page.parent / link).resolve().is_file(), link
    documents = re.findall(r"^:link: (\S+)$", prose, flags=re.MULTILINE)
    for document in documents + toctree(page):
        target = page.parent / document
        assert any(target.with_suffix(end).is_file() for end in (".md", ".rst"))


def test_every_page_is_in_a_toctree():
    linked = {DOCS / "index.md"}
    for page in PAGES:
        for block in blocks(page, "toctree"):
            linked |= {(page.parent / f"{line}.md").resolve() for line in block.split()}
    assert set(PAGES) <= linked


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_names_in_roles_exist(page):
    roles = re.findall(
        r"\{(?:class|func|meth)\}`~?([\w.]+)`", page.read_text(encoding="utf-8")
    )
    for role in roles:
        package, *names = role.split(".")
        value = importlib.import_module(package)
        for name in names:
            value = getattr(value, name)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "doctest")], ids=name_page
)
def test_examples_run(page):
    source = "\n".join(blocks(page, "doctest"))
    test = doctest.DocTestParser().get_doctest(source, {}, page.name, str(page), 0)
    told = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    assert result.attempted
    assert not result.failed, "".join(told)


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_other_python_is_python(page):
    """Run at build time, or not at all: at least no slip of the pen."""
    text = page.read_text(encoding="utf-8")
    fenced = r"^```(?:python|\{executed\})\n(.*?)^```"
    for block in re.findall(fenced, text, flags=re.MULTILINE | re.DOTALL):
        ast.parse(re.sub(r"^:\w+:.*\n", "", block, flags=re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_pages_are_short(page):
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 160
