# SPDX-License-Identifier: BSD-3-Clause
"""All commands, below one name."""

import click

from aucmax import __version__
from aucmax.cli._base import Commands, examples
from aucmax.cli.bench import bench
from aucmax.cli.compare import compare
from aucmax.cli.datasets import datasets
from aucmax.cli.demo import demo
from aucmax.cli.evaluate import evaluate
from aucmax.cli.fit import fit
from aucmax.cli.predict import predict


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "aucmax demo",
        "aucmax fit loans.csv --target default --out loans.skops",
        "aucmax evaluate loans.skops test.csv --target default --plot report.html",
        "aucmax predict loans.skops new.csv --proba > scores.csv",
        "aucmax compare loans.csv --target default --models auto,logistic,hgb",
        "aucmax datasets list",
        "aucmax bench run gao2013 --table 2 --sets german --fast",
        "aucmax --debug bench run gao2013",
    ),
)
@click.version_option(__version__, prog_name="aucmax", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Train, use and compare models that rank.

    The AUC is the share of pairs, of a positive and a negative row, in the right order.
    """


for command in (demo, fit, predict, evaluate, compare, bench, datasets):
    main.add_command(command)
