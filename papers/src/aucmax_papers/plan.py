# SPDX-License-Identifier: BSD-3-Clause
"""What has to be run of a paper: which methods on which sets."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from aucmax_papers.records import Figure, Method, Paper, SetUse, Table
from aucmax_papers.tasks import merge_limits


@dataclass(frozen=True, slots=True)
class Cell:
    """One method on one set: what has to be run for it."""

    use: SetUse
    method: Method
    variant: str
    in_table: bool
    figures: tuple[Figure, ...]

    @property
    def is_tuned(self) -> bool:
        """Say whether there is anything to choose."""
        return self.variant == "published" and len(self.method.candidates()) > 1


def plan(
    paper: Paper,
    *,
    tables: Collection[str] | None = None,
    figures: Collection[str] | None = None,
    sets: Collection[str] | None = None,
    methods: Collection[str] | None = None,
) -> list[Cell]:
    """Return what has to be run, set by set.

    Parameters
    ----------
    paper : Paper
        The protocol.
    tables, figures, sets, methods : collection of str, default=None
        As in `run`.

    Returns
    -------
    cells : list of Cell
        In the order of the paper's sets.

    Raises
    ------
    ValueError
        If a name is unknown, or nothing is left.
    """
    check_names(paper, tables=tables, figures=figures, sets=sets, methods=methods)
    if tables is None and figures is None:
        tables, figures = paper.tables, paper.figures
    shown = [paper.tables[name] for name in tables or ()]
    drawn = [paper.figures[name] for name in figures or ()]
    cells = [
        cell
        for use in paper.sets.values()
        for method in paper.methods.values()
        if use.name in (sets or paper.sets)
        and method.name in (methods or paper.methods)
        and not method.copied
        for cell in _cells(use, method, shown, drawn)
    ]
    if not cells:
        raise ValueError(_why_nothing(paper, methods))
    return cells


def _cells(
    use: SetUse, method: Method, shown: list[Table], drawn: list[Figure]
) -> Iterator[Cell]:
    """Yield a method on a set, in each variant that a table or a figure has."""
    in_table = any(use.name in t.sets and method.name in t.methods for t in shown)
    figured = tuple(f for f in drawn if use.name in f.sets and method.name in f.methods)
    limited, there = merge_limits(use, method), method.on(use.name)
    for variant in method.variants:
        its = figured if variant == method.variants[0] else ()
        if in_table or its:
            yield Cell(limited, there, variant, in_table, its)


def _why_nothing(paper: Paper, methods: Collection[str] | None) -> str:
    lenders = {paper.methods[name].copied for name in methods or ()} - {""}
    if lenders:
        return (
            f"{paper.key} copied these columns from {', '.join(sorted(lenders))}. Run "
            "them there."
        )
    return (
        f"{paper.key} has nothing to run for this choice: none of these methods is run "
        "on any of these sets for these tables and figures"
        f"{' in its fast form' if paper.is_fast else ''}. Choose more of them."
    )


def check_names(
    paper: Paper,
    *,
    tables: Collection[str] | None = None,
    figures: Collection[str] | None = None,
    sets: Collection[str] | None = None,
    methods: Collection[str] | None = None,
) -> None:
    """Raise ValueError if the paper has no such table, figure, set or method."""
    choices: tuple[tuple[str, Collection[str] | None, Collection[str]], ...] = (
        ("table", tables, paper.tables),
        ("figure", figures, paper.figures),
        ("set", sets, paper.sets),
        ("method", methods, paper.methods),
    )
    for what, chosen, known in choices:
        for name in chosen or ():
            if name not in known:
                raise ValueError(
                    f"{paper.key} has no {what} {name!r}"
                    f"{' in its fast form' if paper.is_fast else ''}. Choose of: "
                    f"{', '.join(known)}."
                )
