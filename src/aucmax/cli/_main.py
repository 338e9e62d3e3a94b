# SPDX-License-Identifier: BSD-3-Clause
"""All commands, below one name."""

from importlib.metadata import entry_points

import click

from aucmax import __version__
from aucmax.cli._base import Commands, examples
from aucmax.cli.compare import compare
from aucmax.cli.datasets import datasets
from aucmax.cli.demo import demo
from aucmax.cli.evaluate import evaluate
from aucmax.cli.fit import fit
from aucmax.cli.predict import predict

# Other distributions add commands here, such as aucmax-papers its "bench".
ENTRY_POINTS = "aucmax.commands"


class Main(Commands):
    """The commands of aucmax, and those that other distributions add."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        added = entry_points(group=ENTRY_POINTS).names
        return sorted({*super().list_commands(ctx), *added})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        command = super().get_command(ctx, cmd_name)
        if command is None:
            for entry in entry_points(group=ENTRY_POINTS, name=cmd_name):
                added: click.Command = entry.load()
                return added
        if command is None and cmd_name == "bench":
            ctx.fail(
                "The experiments of the papers are a distribution of their own: "
                "pip install . ./papers in a checkout."
            )
        return command


@click.group(
    cls=Main,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "aucmax demo",
        "aucmax fit loans.csv --target default --out loans.skops",
        "aucmax evaluate loans.skops test.csv --target default --plot report.html",
        "aucmax predict loans.skops new.csv --proba > scores.csv",
        "aucmax compare loans.csv --target default --models auto,logistic,hgb",
        "aucmax datasets list",
        "aucmax --debug datasets list",
    ),
)
@click.version_option(__version__, prog_name="aucmax", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Train, use and compare models that rank.

    The AUC is the share of pairs, of a positive and a negative row, in the right order.
    """


for command in (demo, fit, predict, evaluate, compare, datasets):
    main.add_command(command)
