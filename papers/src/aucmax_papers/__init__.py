# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of the papers, run again: no algorithm here."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aucmax_papers.protocol import load_paper
    from aucmax_papers.report import write_report
    from aucmax_papers.runner import run

__version__ = "0.1.0.dev0"

__all__ = ["load_paper", "run", "write_report"]

# Imported when first asked for, so that `aucmax --help` stays quick.
_HOMES = {
    "load_paper": "aucmax_papers.protocol",
    "run": "aucmax_papers.runner",
    "write_report": "aucmax_papers.report",
}


def __getattr__(name: str) -> Any:
    """Import a public name."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
