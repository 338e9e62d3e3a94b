# SPDX-License-Identifier: BSD-3-Clause
"""Which texts a column of categories may hold."""

from collections.abc import Mapping, Sequence

from aucmax._utils.optional import import_optional
from aucmax.io._batch_tables import TableFiles
from aucmax.io._errors import short

# Each becomes a column of a dense block.
MOST_LEVELS = 1000
ERROR, DROP, ONE_HOT = "error", "drop", "one-hot"


def check_categories(categories: object) -> None:
    """Raise if it is no way to treat categories."""
    if categories in (ERROR, DROP, ONE_HOT) or isinstance(categories, Mapping):
        return
    raise ValueError(
        f"categories must be '{ERROR}', '{DROP}', '{ONE_HOT}' or a dict of columns and "
        f"lists of texts; got {categories!r}."
    )


def choose_levels(
    tables: TableFiles,
    texts: Sequence[str],
    features: Sequence[str],
    categories: str | Mapping[str, Sequence[str]],
) -> dict[str, tuple[str, ...]]:
    """Return the levels of the columns of text that are not to be left out."""
    if isinstance(categories, Mapping):
        given = _given_levels(tables, texts, features, categories)
        _refuse_texts(tables, [name for name in texts if name not in given])
        return given
    if categories == ERROR:
        _refuse_texts(tables, texts)
    if categories != ONE_HOT or not texts:
        return {}
    return _find_levels(tables, texts)


def _refuse_texts(tables: TableFiles, texts: Sequence[str]) -> None:
    if texts:
        raise ValueError(
            f"Column {short(texts[0])} of {tables.files[0].path} holds text. Pass "
            f"categories='{ONE_HOT}' for a column of zeros and ones per text, "
            f"'{DROP}' to leave such columns out, or a dict with the texts of each "
            "column."
        )


def _given_levels(
    tables: TableFiles,
    texts: Sequence[str],
    features: Sequence[str],
    categories: Mapping[str, Sequence[str]],
) -> dict[str, tuple[str, ...]]:
    file = tables.files[0].path
    levels = {}
    for name, values in categories.items():
        if name not in texts:
            what = "holds no text" if name in features else "is no feature"
            raise ValueError(
                f"categories has {name!r}, which {what} in {file}. Leave it out of "
                "categories."
            )
        if isinstance(values, str) or not values:
            raise ValueError(
                f"categories[{name!r}] must be a list of texts; got {values!r}."
            )
        levels[name] = tuple(map(str, values))
        if len(set(levels[name])) < len(levels[name]):
            raise ValueError(f"categories[{name!r}] has a text twice. Leave one out.")
    return levels


def _find_levels(
    tables: TableFiles, texts: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the texts of each column, sorted, by one pass over these columns."""
    string = import_optional("pyarrow", "io").string()
    found: dict[str, set[str]] = {name: set() for name in texts}
    for file, _, batch in tables.records(texts):
        for name in texts:
            values = batch.column(name).cast(string).unique().to_pylist()
            found[name].update(value for value in values if value is not None)
            if len(found[name]) > MOST_LEVELS:
                raise ValueError(
                    f"Column {short(name)} of {file} has more than {MOST_LEVELS} "
                    "different texts, too many for a column each. Leave it out with "
                    "columns=, or give the texts with categories={...}."
                )
    return {name: tuple(sorted(values)) for name, values in found.items()}
