# SPDX-License-Identifier: BSD-3-Clause
"""The command ``aucmax``."""

import click

from aucmax import __version__
from aucmax.cli._base import Commands, examples
from aucmax.cli.bench import bench
from aucmax.cli.datasets import datasets

__all__ = ["main"]


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "aucmax datasets list",
        "aucmax bench list",
        "aucmax bench run gao2013 --table 2 --sets german --fast",
        "aucmax --debug bench run gao2013",
    ),
)
@click.version_option(__version__, prog_name="aucmax", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Run the benchmarks of aucmax, and get their data sets."""


main.add_command(bench)
main.add_command(datasets)
