# SPDX-License-Identifier: BSD-3-Clause
"""What HTML pages share: a style, templates, and files written whole or not at all."""

import os
from importlib import resources
from pathlib import Path
from typing import Any

from aucmax._utils.optional import import_optional
from aucmax.io._atomic import replacing


def read_part(package: str, name: str) -> str:
    """Return a template, style sheet or script that ships with a package."""
    return (resources.files(package) / name).read_text(encoding="utf-8")


def style_sheet() -> str:
    """Return the style of all pages, by day and by night."""
    return read_part("aucmax.plots", "page.css")


def open_template(package: str, name: str) -> Any:
    """Return a template by its file name; ``render`` of it fills values in."""
    jinja2 = import_optional("jinja2", "plot")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.from_string(read_part(package, name))


def write_page(path: str | os.PathLike[str], text: str) -> Path:
    """Write a file, and its folder if need be; return its path."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as draft:
        draft.write_bytes(text.encode())
    return path
