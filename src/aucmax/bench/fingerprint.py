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

# How a run is prepared and scored. Data files are checked by their own sums.
SOURCES = (
    "aucmax.bench.problem",
    "aucmax.bench.methods",
    "aucmax.bench.tasks",
    "aucmax.bench.online_curve",
    "aucmax._kernels.neighbor_curve",
    "aucmax._utils.threads",
)
METRIC = "aucmax.metrics.auc"
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


def code_version(method: Method) -> str:
    """Return twelve digits that change with any statement that can change a figure.

    These are the statements of all modules that the method's estimators import,
    directly or not, and of those that prepare and score a run: other estimators may
    come and go. Python's own version is part of it, by how it reads a source.
    """
    names = {method.estimator, method.default_estimator}
    names.add(str(method.before.get("estimator", "")))
    return _version(tuple(sorted(names - {""})))


@functools.cache
def _version(names: tuple[str, ...]) -> str:
    modules = {METRIC, *(aucmax._HOMES[name] for name in names)}
    digest = hashlib.sha256()
    for module in sorted(_imported(modules) | set(SOURCES)):
        digest.update(ast.dump(_statements(module)).encode())
    return digest.hexdigest()[:DIGITS]


def _imported(modules: set[str]) -> set[str]:
    """Return these modules of aucmax and all that they import, and so on."""
    found: set[str] = set()
    new = set(modules)
    while new:
        found |= new
        new = {name for module in new for name in _imports(module)} - found
    return found


@functools.cache
def _imports(module: str) -> frozenset[str]:
    found = set()
    for node in ast.walk(_statements(module)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {_home(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "_kernels":
            found |= {f"aucmax._kernels.{node.attr}"}
    # Not the package itself, which names everything and imports nothing.
    return frozenset(name for name in found if name.startswith("aucmax."))


def _home(module: str, name: str) -> str:
    """Return the module that a name comes from.

    It may be a module of its own, and a package may have it from one of its modules:
    then the others of the package do not matter.
    """
    if not module.startswith("aucmax."):
        return module
    if _path(f"{module}.{name}") is not None:
        return f"{module}.{name}"
    for node in _statements(module).body:
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        if _is_package(module) and any(alias.name == name for alias in node.names):
            return _home(node.module, name)
    return module


def _is_package(module: str) -> bool:
    path = _path(module)
    return path is not None and path.name == "__init__.py"


@functools.cache
def _statements(module: str) -> ast.Module:
    """Return what a module does, without comments, layout and docstrings."""
    path = _path(module)
    return _stripped(path.read_text(encoding="utf-8")) if path else ast.Module([], [])


def _stripped(source: str) -> ast.Module:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            has_text = ast.get_docstring(node, clean=False) is not None
            node.body = node.body[has_text:]
    return tree


def _path(module: str) -> Any:
    """Return the file of a module of aucmax, or None if there is none."""
    place = resources.files("aucmax").joinpath(*module.split(".")[1:])
    if place.is_dir():
        return place / "__init__.py"
    file = resources.files("aucmax").joinpath(*module.split(".")[1:-1])
    file = file / f"{module.rpartition('.')[2]}.py"
    return file if file.is_file() else None


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
