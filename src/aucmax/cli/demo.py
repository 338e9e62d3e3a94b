# SPDX-License-Identifier: BSD-3-Clause
"""``aucmax demo``: AUCClassifier beside the tools at hand, on real data."""

import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aucmax.cli._base import (
    Command,
    examples,
    fail,
    json_option,
    show_json,
    tell,
    tell_progress,
)

if TYPE_CHECKING:
    from aucmax.demo.run import SetRun

PAGE = "demo.html"
WIDTH = 80
NOTES = """\
AUC is of test rows, with its 95% DeLong interval. The p-value is of the paired DeLong \
test against AUCClassifier: above 0.05 there is no evidence that the two AUCs differ. \
One split of each set is a demonstration and no benchmark."""


@click.command(
    cls=Command,
    short_help="AUCClassifier beside other models on real data.",
    epilog=examples(
        "aucmax demo", "aucmax demo --quick", "aucmax demo --out demo --json"
    ),
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default="aucmax-demo",
    show_default=True,
    help="Folder of the page.",
)
@click.option("--quick", is_flag=True, help="One small set, in seconds.")
@json_option
def demo(out: Path, quick: bool, as_json: bool) -> None:
    """Compare AUCClassifier with other models on real, imbalanced data.

    Logistic regression, SVC, boosted trees of scikit-learn and, where it is installed,
    LightGBM learn from the same rows of three sets that ship with aucmax, each tuned by
    cross-validation. Prints a table, and writes a page with plots that needs no
    network. Takes one or two minutes.
    """
    from aucmax.demo.run import run_demo
    from aucmax.demo.text import describe_all, to_dict

    _check_folder(out)
    sets = []
    for each in run_demo(is_quick=quick, tell=tell_progress):
        sets.append(each)
        if not as_json:
            _show(each)
    page, sentence = _write_page(sets, out / PAGE, quick)
    if as_json:
        show_json({"sets": [to_dict(s) for s in sets], "page": page and str(page)})
        tell(sentence)
        return
    if len(sets) > 1:
        _say(describe_all(sets))
    _say(NOTES)
    click.echo(sentence)


def _check_folder(out: Path) -> None:
    """End the command if the page cannot be written; told before any work."""
    parents = (out.absolute(), *out.absolute().parents)
    there = next(folder for folder in parents if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        fail(f"{out} cannot be written to. Name another folder with --out.")


def _show(each: "SetRun") -> None:
    from aucmax.demo.text import describe_outcome, describe_rows, table_text

    _say(f"{each.data.name}: {each.data.description} {describe_rows(each)}.")
    click.echo(f"{table_text(each)}\n")
    _say(describe_outcome(each))


def _say(text: str) -> None:
    click.echo(f"{textwrap.fill(text, WIDTH)}\n")


def _write_page(
    sets: "list[SetRun]", path: Path, quick: bool
) -> tuple[Path | None, str]:
    """Return where the page is, if it could be written, and a sentence about it."""
    from aucmax.demo.page import write_demo

    try:
        page = write_demo(sets, path, is_quick=quick).resolve()
    except ImportError as error:
        if error.name not in ("jinja2", "matplotlib"):
            raise
        return None, (
            "There is no page with plots, which needs jinja2 and matplotlib. Install "
            'them with: pip install "aucmax[plot]"'
        )
    return page, f"Wrote {path}. Open {page.as_uri()} in a browser."
