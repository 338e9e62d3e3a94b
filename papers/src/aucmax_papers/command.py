# SPDX-License-Identifier: BSD-3-Clause
"""``aucmax bench``: the experiments of the papers."""

import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from aucmax.cli._base import (
    examples,
    fail,
    json_option,
    show_json,
    split_names,
    tell,
    usage_errors,
)
from aucmax_papers.options import (
    fast_option,
    results_option,
    shown_options,
)

if TYPE_CHECKING:
    from aucmax_papers.records import Paper
    from aucmax_papers.runner import Summary


@click.group(
    short_help="Run the experiments of the papers.",
    epilog=examples(
        "aucmax bench list",
        "aucmax bench run gao2013 --fast",
        "aucmax bench table gao2013 --table 2 --fast",
        "aucmax bench report --fast --out report.html",
    ),
)
def bench() -> None:
    """Run the experiments of the papers, and compare with what they printed."""


@bench.command(
    "list",
    short_help="List the papers, and which sets are at hand.",
    epilog=examples("aucmax bench list", "aucmax bench list --json"),
)
@json_option
def list_(as_json: bool) -> None:
    """List the papers, their tables and figures, and which sets are at hand."""
    from aucmax_papers.missing import is_at_hand
    from aucmax_papers.protocol import KEYS, load_paper

    papers = [load_paper(key) for key in KEYS]
    at_hand = {
        paper.key: {use.name: is_at_hand(use) for use in paper.sets.values()}
        for paper in papers
    }
    if as_json:
        show_json([_facts(paper, at_hand[paper.key]) for paper in papers])
    else:
        texts = (_describe(paper, at_hand[paper.key]) for paper in papers)
        click.echo("\n\n".join(texts))


def _facts(paper: "Paper", at_hand: Mapping[str, bool]) -> dict[str, Any]:
    return {
        "key": paper.key,
        "title": paper.title,
        "authors": paper.authors,
        "venue": paper.venue,
        "link": paper.link,
        "tables": {table.name: table.caption for table in paper.tables.values()},
        "figures": {figure.name: figure.caption for figure in paper.figures.values()},
        "methods": list(paper.methods),
        "sets": {
            use.name: {"data": use.data, "at_hand": at_hand[use.name]}
            for use in paper.sets.values()
        },
    }


def _describe(paper: "Paper", at_hand: Mapping[str, bool]) -> str:
    lines = [
        f"{paper.key}: {paper.title}",
        f"  {paper.authors}, {paper.venue}",
        f"  {paper.link}",
    ]
    lines += [f"  table {t.name}: {t.caption}" for t in paper.tables.values()]
    lines += [f"  figure {f.name}: {f.caption}" for f in paper.figures.values()]
    for word, wanted in (("sets at hand", True), ("sets to get", False)):
        names = [name for name, is_there in at_hand.items() if is_there is wanted]
        if names:
            lines.append(f"  {word}: {'; '.join(names)}")
    return "\n".join(lines)


@bench.command(
    short_help="Run a paper, and print its tables.",
    epilog=examples(
        "aucmax bench run gao2013 --fast",
        "aucmax bench run gao2013 --table 2 --sets german,diabetes",
        "aucmax bench run gao2013 --figure 3 --methods OPAUC > figure3.md",
    ),
)
@click.argument("key")
@shown_options
@fast_option
@click.option("--sets", metavar="A,B", multiple=True, help="Only these sets.")
@click.option("--methods", metavar="A,B", multiple=True, help="Only these methods.")
@results_option
@click.option("--download", is_flag=True, help="Download sets that are not at hand.")
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="Number of processes; one per core if not given.",
)
def run(
    key: str,
    tables: tuple[str, ...],
    figures: tuple[str, ...],
    fast: bool,
    sets: tuple[str, ...],
    methods: tuple[str, ...],
    results: Path,
    download: bool,
    jobs: int | None,
) -> None:
    """Run the paper KEY, or a part of it, and print the tables in Markdown.

    Results are kept as they come. A run that was stopped goes on where it was: give the
    same command again. Sets are looked for in the folder that AUCMAX_DATA names, and
    among those that were downloaded; what is not at hand is left out.
    """
    from aucmax_papers.plan import plan
    from aucmax_papers.protocol import load_paper
    from aucmax_papers.runner import run as run_paper

    with usage_errors():
        paper = load_paper(key, fast=fast)
        chosen: dict[str, Any] = {
            "tables": tables or None,
            "figures": figures or None,
            "sets": split_names(sets, paper.sets),
            "methods": split_names(methods, paper.methods),
        }
        plan(paper, **chosen)
    summary = run_paper(
        key,
        results=results,
        fast=fast,
        n_jobs=jobs,
        download=download,
        progress=sys.stderr is not None,
        **chosen,
    )
    shown = _narrowed(paper, chosen["sets"], chosen["methods"])
    click.echo(_markdown(shown, results, tables, figures), nl=False)
    _tell_summary(summary, results)


def _tell_summary(summary: "Summary", results: Path) -> None:
    for name, how in summary.missing.items():
        tell(f"{name} is left out: {how}")
    tell(
        f"{summary.n_done} new results, {summary.n_reused} reused, {summary.n_failed} "
        f"failed, in {summary.seconds:.0f} s. All are in {results}."
    )
    if summary.n_failed:
        fail(
            f"{summary.n_failed} results failed, the first of them {summary.error}. "
            "The same command tries them again."
        )


@bench.command(
    short_help="Print tables from results that are there.",
    epilog=examples(
        "aucmax bench table gao2013",
        "aucmax bench table gao2013 --table 2 --fast --out table2.md",
    ),
)
@click.argument("key")
@shown_options
@fast_option
@results_option
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file instead.",
)
def table(
    key: str,
    tables: tuple[str, ...],
    figures: tuple[str, ...],
    fast: bool,
    results: Path,
    out: Path | None,
) -> None:
    """Print the tables and figures of the paper KEY from results that are there."""
    from aucmax.plots.page import write_page
    from aucmax_papers.plan import check_names
    from aucmax_papers.protocol import load_paper

    with usage_errors():
        paper = load_paper(key, fast=fast)
        check_names(paper, tables=tables, figures=figures)
    if not fast and _has_fast_results_only(results, key):
        tell("There are results of the reduced protocol only: this is --fast.")
        paper = load_paper(key, fast=True)
    text = _markdown(paper, results, tables, figures)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_page(out, text)
        tell(f"Wrote {out}.")


@bench.command(
    epilog=examples(
        "aucmax bench report", "aucmax bench report --fast --out fast.html"
    ),
)
@fast_option
@results_option
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    default="report.html",
    show_default=True,
    help="File to write.",
)
def report(fast: bool, results: Path, out: Path) -> None:
    """Write all results, of all papers, into one HTML file."""
    from aucmax_papers.protocol import KEYS
    from aucmax_papers.report import write_report
    from aucmax_papers.store import Store

    rows = {key: Store(results, key).rows() for key in KEYS}
    mode = "fast" if fast else "full"
    if not any(row.mode == mode for its in rows.values() for row in its):
        _fail_empty(results, "KEY", fast)
    tell(f"Wrote {write_report(rows, out, fast=fast)}.")


def _markdown(
    paper: "Paper", results: Path, tables: Collection[str], figures: Collection[str]
) -> str:
    """Return tables and figures from results on disk; all if none is chosen."""
    from aucmax_papers.compare import compare
    from aucmax_papers.markdown import figure_markdown, table_markdown
    from aucmax_papers.store import Store
    from aucmax_papers.study import collect_lines

    if not tables and not figures:
        tables = [t.name for t in paper.tables.values() if t.sets and t.methods]
        figures = [f.name for f in paper.figures.values() if f.sets and f.methods]
    sources = {m.copied.partition(":")[0] for m in paper.methods.values()} - {""}
    rows = {key: Store(results, key).rows() for key in {paper.key, *sources}}
    if not any(rows.values()):
        _fail_empty(results, paper.key, paper.is_fast)
    own = rows[paper.key]
    texts = [table_markdown(compare(paper, own, name, rows)) for name in tables]
    for name in figures:
        lines = collect_lines(paper, own, name)
        texts.append(figure_markdown(paper, name, lines))
    return "\n".join(texts)


def _has_fast_results_only(results: Path, key: str) -> bool:
    from aucmax_papers.store import Store

    return {row.mode for row in Store(results, key).rows()} == {"fast"}


def _fail_empty(results: Path, key: str, fast: bool) -> NoReturn:
    kind, option = ("reduced", " --fast") if fast else ("full", "")
    fail(
        f"There are no results of the {kind} protocol in {results}. Make some with: "
        f"aucmax bench run {key}{option}, or name another folder with --results."
        + ("" if fast else " Those of --fast are shown with --fast.")
    )


def _narrowed(
    paper: "Paper", sets: Collection[str] | None, methods: Collection[str] | None
) -> "Paper":
    """Return the paper with only these sets and methods in its tables and figures."""

    def keep(names: tuple[str, ...], chosen: Collection[str] | None) -> tuple[str, ...]:
        return tuple(name for name in names if chosen is None or name in chosen)

    tables, figures = {}, {}
    for name, table in paper.tables.items():
        columns = keep(table.methods, methods)
        # Who wins against the reference cannot be said without it.
        reference = table.reference if table.reference in columns else ""
        tables[name] = replace(
            table, sets=keep(table.sets, sets), methods=columns, reference=reference
        )
    for name, figure in paper.figures.items():
        figures[name] = replace(
            figure, sets=keep(figure.sets, sets), methods=keep(figure.methods, methods)
        )
    return replace(paper, tables=tables, figures=figures)
