# SPDX-License-Identifier: BSD-3-Clause
"""Which protocol and which libraries a result came from."""

import functools
import hashlib
import json
import platform
from dataclasses import fields
from importlib.metadata import version
from typing import Any

import aucmax
from aucmax_papers.protocol import Figure, Method, SetUse

# Words about a set or a method, and what only chooses among results.
NOT_PROTOCOL = {
    "why",
    "note",
    "comparable",
    "proposed",
    "headline",
    "copied",
    "copied_as",
    "results_version",
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
