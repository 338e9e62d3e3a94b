# SPDX-License-Identifier: BSD-3-Clause
"""``aucmax datasets``: what there is, where it is, and how to get it."""

from typing import TYPE_CHECKING, Any

import click

from aucmax.cli._base import (
    examples,
    is_watched,
    json_option,
    show_columns,
    show_json,
    usage_errors,
)

if TYPE_CHECKING:
    from aucmax.datasets import DatasetInfo


@click.group(
    epilog=examples(
        "aucmax datasets list",
        "aucmax datasets info letter",
        "aucmax datasets fetch letter --part train",
    ),
)
def datasets() -> None:
    """Find and get the data sets of the papers.

    Files are looked for in the folder that the variable AUCMAX_DATA names, then among
    earlier downloads (AUCMAX_CACHE), then in aucmax itself. What is in none of them is
    downloaded from its public home when it is needed.
    """


@datasets.command(
    "list",
    epilog=examples("aucmax datasets list", "aucmax datasets list --json"),
)
@json_option
def list_(as_json: bool) -> None:
    """List all sets, with their size and place.

    A place is mirror (the folder AUCMAX_DATA), cache (downloaded before), package
    (comes with aucmax), download (can be fetched) or manual (to be got by hand).
    """
    from aucmax.datasets import info, list_datasets

    every = [info(name) for name in list_datasets()]
    if as_json:
        show_json([_facts(chosen) for chosen in every])
        return
    rows = [("name", "rows", "features", "task", "place", "licence")]
    for chosen in every:
        places = chosen.where()
        n_rows = sum(part.n_rows for part in chosen.parts.values())
        rows.append(
            (
                chosen.name,
                f"{n_rows:,}",
                f"{chosen.n_features:,}",
                chosen.task,
                ", ".join(dict.fromkeys(places.values())),
                chosen.licence,
            )
        )
    show_columns(rows)


@datasets.command(
    "info",
    epilog=examples(
        "aucmax datasets info letter", "aucmax datasets info letter --json"
    ),
)
@click.argument("name")
@json_option
def info_(name: str, as_json: bool) -> None:
    """Say what is known of the set NAME."""
    from aucmax.datasets import info

    with usage_errors():
        chosen = info(name)
    facts = _facts(chosen)
    if as_json:
        show_json(facts)
        return
    parts, papers = facts.pop("parts"), facts.pop("papers")
    rows = [(f"{key}:", str(value)) for key, value in facts.items() if value]
    for part, its in parts.items():
        rows.append((f"{part}:", f"{its['n_rows']:,} rows; {its['place']}"))
    rows += [(f"{key}:", use) for key, use in papers.items()]
    show_columns(rows)


@datasets.command(
    "fetch",
    short_help="Get the set NAME, and print where its files are.",
    epilog=examples(
        "aucmax datasets fetch letter", "aucmax datasets fetch letter --part train"
    ),
)
@click.argument("name")
@click.option("--part", metavar="P", help="Only this part, such as train or test.")
def fetch_(name: str, part: str | None) -> None:
    """Get the set NAME, if it is not at hand, and print where its files are."""
    from aucmax.datasets import fetch

    with usage_errors():
        paths = fetch(name, part, progress=is_watched())
    for path in paths.values():
        click.echo(path)


def _facts(chosen: "DatasetInfo") -> dict[str, Any]:
    places = chosen.where()
    return {
        "name": chosen.name,
        "title": chosen.title,
        "summary": chosen.summary,
        "task": chosen.task,
        "n_features": chosen.n_features,
        "source": chosen.source,
        "reference": chosen.reference,
        "licence": chosen.licence,
        "notes": chosen.notes,
        "parts": {
            name: {
                "n_rows": part.n_rows,
                "class_counts": dict(part.class_counts) if part.class_counts else None,
                "url": part.url,
                "place": places[name],
            }
            for name, part in chosen.parts.items()
        },
        "papers": dict(chosen.papers),
    }
