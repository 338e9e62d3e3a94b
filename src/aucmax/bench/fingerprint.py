# SPDX-License-Identifier: BSD-3-Clause
"""Which code and which protocol a result came from: none are mixed unnoticed."""

import ast
import functools
import hashlib
import json
import platform
from dataclasses import fields
from importlib import resources
from importlib.metadata import version
from typing import Any

import aucmax
from aucmax.bench.protocol import Figure, Method, SetUse

# What can change an AUC: all below `bench`, and how `bench` prepares and scores a run.
# Not `datasets`, whose files are checked by their own sums.
SOURCES = (
    "_utils",
    "_kernels",
    "losses",
    "design",
    "summaries",
    "solvers",
    "features",
    "neighbors",
    "metrics",
    "estimators",
    "bench/problem.py",
    "bench/methods.py",
    "bench/tasks.py",
    "bench/online_curve.py",
)
# Words about a set or a method, and what only chooses among results.
NOT_PROTOCOL = {
    "why",
    "note",
    "comparable",
    "proposed",
    "headline",
    "copied",
    "copied_as",
    "by_set",
    "cost",
    "printed",
    "n_runs",
    "n_repeats",
    "n_partitions",
    "caption",
    "label",
    "log",
    "sets",
    "methods",
    "values",
    "x",
}
DIGITS = 12


@functools.cache
def code_version() -> str:
    """Return twelve digits that change with any statement that can change a figure."""
    package = resources.files("aucmax")
    digest = hashlib.sha256()
    for source in SOURCES:
        for path in sorted(_python_files(package / source), key=str):
            digest.update(_meaning(path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:DIGITS]


def protocol_version(use: SetUse, method: Method, figure: Figure | None = None) -> str:
    """Return twelve digits that change with how a set and a method are run."""
    parts = [_told(record) for record in (use, method, figure) if record is not None]
    if figure is not None and figure.vary == "online":
        # How many points one result has, not one value for each.
        parts.append({"points": figure.values})
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _told(record: Any) -> dict[str, Any]:
    """Return what differs from the defaults, so that new fields change nothing."""
    return {
        f.name: value
        for f in fields(record)
        if f.name not in NOT_PROTOCOL
        and (value := getattr(record, f.name)) != f.default
        and value != {}
    }


@functools.cache
def versions() -> str:
    """Return the versions of everything a figure depends on, as one line."""
    names = ("numpy", "scipy", "scikit-learn", "numba")
    libraries = " ".join(f"{name} {version(name)}" for name in names)
    return f"aucmax {aucmax.__version__} Python {platform.python_version()} {libraries}"


def _meaning(source: str) -> str:
    """Return what a module does, without comments, layout and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            has_text = ast.get_docstring(node, clean=False) is not None
            node.body = node.body[has_text:]
    return ast.dump(tree)


def _python_files(source: Any) -> list[Any]:
    if source.is_file():
        return [source]
    return [
        path
        for child in source.iterdir()
        for path in (_python_files(child) if child.is_dir() else [child])
        if path.name.endswith(".py")
    ]
