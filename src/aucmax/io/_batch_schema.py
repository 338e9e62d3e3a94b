# SPDX-License-Identifier: BSD-3-Clause
"""From the columns of files to a plan: what is asked for must be in all of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from aucmax._utils.optional import import_optional
from aucmax.io._batch_blocks import Feature, Layout
from aucmax.io._batch_files import InputFile
from aucmax.io._batch_levels import choose_levels
from aucmax.io._batch_readers import Schema, read_schema
from aucmax.io._batch_tables import TableFiles, TablePlan
from aucmax.io._batch_text import TextColumns
from aucmax.io._batch_types import (
    EMPTY,
    NUMBER,
    TEXT,
    class_of,
    feature_dtype,
    given_types,
    label_dtype,
    merged_class,
    plain,
    refuse_other,
)
from aucmax.io._batch_values import Rules
from aucmax.io._errors import short
from aucmax.io.columns import Columns, find_name, pick_columns
from aucmax.io.header import read_header
from aucmax.io.source import Source

SEPARATORS = {"csv": ",", "tsv": "\t"}


class Asked(NamedTuple):
    """What `read_batches` was asked for; see there."""

    target: str | int | None = None
    columns: Columns | None = None
    weight: str | int | None = None
    dtype: str = "auto"
    missing: str | float = "error"
    categories: str | Mapping[str, Sequence[str]] = "error"
    types: Mapping[str, str] | None = None
    separator: str | None = None


class Picked(NamedTuple):
    """Names of columns."""

    target: str
    features: list[str]
    weight: str | None

    @property
    def all(self) -> list[str]:
        """All names."""
        more = [] if self.weight is None else [self.weight]
        return [self.target, *self.features, *more]


class Found(NamedTuple):
    """What a look at files has found."""

    tables: TableFiles
    schemas: list[Schema]
    picked: Picked
    # Columns of text that look like whole numbers.
    whole: frozenset[str]
    # What the columns hold in all files.
    held: dict[str, str]


def look_at(kind: str, files: tuple[InputFile, ...], asked: Asked) -> Found:
    """Return the columns asked for, or raise why they cannot be read."""
    # First, as everything else needs it.
    import_optional("pyarrow", "io")
    sources = [file.source() for file in files]
    if kind in SEPARATORS:
        separator = asked.separator or SEPARATORS[kind]
        headers = [read_header(source, separator) for source in sources]
        picked = _pick(sources, headers, asked)
        types, whole = _text_types(sources, separator, headers[0], picked, asked)
        schemas = [types for _ in files]
        tables = TableFiles(kind, files, (None,) * len(files), separator, types)
    else:
        looked = [read_schema(source, kind) for source in sources]
        schemas = [schema for schema, _ in looked]
        picked, whole = _pick(sources, schemas, asked), frozenset()
        tables = TableFiles(kind, files, tuple(n for _, n in looked), None, {})
    paths = [str(file.path) for file in files]
    held = {name: merged_class(name, paths, schemas) for name in picked.all}
    _check_roles(paths, schemas, picked, held)
    return Found(tables, schemas, picked, whole, held)


def plan_tables(
    kind: str, files: tuple[InputFile, ...], asked: Asked, *, in_threads: bool
) -> TablePlan:
    """Return how to read files as asked for, or raise why they cannot be."""
    found = look_at(kind, files, asked)
    return TablePlan(found.tables, _layout(found, asked), in_threads)


def _pick(
    sources: Sequence[Source], names: Sequence[Sequence[str] | Schema], asked: Asked
) -> Picked:
    """Return the columns asked for; all files must have them."""
    first, here = sources[0], list(names[0])
    known, weight = set(here), None
    columns = asked.columns(here) if callable(asked.columns) else asked.columns
    if asked.target is None:
        raise ValueError(f"Name the column of {first.name} with the labels: target=...")
    target = find_name(first, here, known, asked.target)
    if asked.weight is not None:
        weight = find_name(first, here, known, asked.weight)
        if columns is None:
            columns = [name for name in here if name not in (target, weight)]
    more = [] if weight is None else [weight]
    # Also refuses what is asked for twice.
    if columns is None or isinstance(columns, str):
        features = pick_columns(first, here, target, columns)[1:]
    else:
        features = pick_columns(first, here, target, [*columns, *more])[1:]
        features = features[: len(features) - len(more)]
    picked = Picked(target, features, weight)
    for source, there in zip(sources[1:], names[1:], strict=True):
        _check_others(first, source, picked, set(there))
        new = set(there) - known
        if asked.columns is None and new:
            raise ValueError(
                f"{source.name} has a column {short(min(new))}, but {first.name} has "
                "none. Give files with the same columns, or choose some with columns=."
            )
    return picked


def _check_others(
    first: Source, source: Source, picked: Picked, known: set[str]
) -> None:
    for name in picked.all:
        if name not in known:
            what = ", the target" if name == picked.target else ""
            raise ValueError(
                f"{source.name} has no column {short(name)}{what}, but {first.name} "
                "has. Give files with the same columns, or choose some with columns=."
            )


def _text_types(
    sources: Sequence[Source],
    separator: str,
    header: Sequence[str],
    picked: Picked,
    asked: Asked,
) -> tuple[Schema, frozenset[str]]:
    """Return the types of columns of text, and which of them look whole.

    Found in the first block of the first file that has rows.
    """
    arrow = import_optional("pyarrow", "io")
    given = given_types(asked.types or {})
    for name in given:
        find_name(sources[0], header, set(header), name)
    given = {name: kind for name, kind in given.items() if name in picked.all}
    found = (
        TextColumns(source, separator, picked.all, given).find_types()
        for source in sources
    )
    empty = dict.fromkeys(picked.all, arrow.null())
    types = next((types for types in found if types is not None), empty) | given
    whole = frozenset[str]()
    for name in picked.all:
        kind = types[name]
        if name == picked.target:
            types[name] = arrow.string() if kind == arrow.null() else kind
        elif kind == arrow.null():
            types[name] = arrow.float64()
        elif kind == arrow.int64() and name not in given:
            # Numbers with a point may follow in a later block.
            types[name] = arrow.float64()
            whole |= {name}
    return types, whole


def _layout(found: Found, asked: Asked) -> Layout:
    tables, schemas, picked, whole, held = found
    files = [str(file.path) for file in tables.files]
    for name in picked.features:
        refuse_other(name, held[name], files[0], schemas[0][name])
    texts = [name for name in picked.features if held[name] == TEXT]
    levels = choose_levels(tables, texts, picked.features, asked.categories)
    features: list[Feature] = []
    first = 0
    for name in picked.features:
        if name in texts and name not in levels:
            continue
        features.append(Feature(name, first, levels.get(name)))
        first += features[-1].width
    if not features:
        raise ValueError(
            f"{files[0]} has no columns to learn from besides the target and those "
            "left out. Choose columns=, or pass categories='one-hot'."
        )
    _check_new_names(files[0], features)
    kinds = [schema[each.name] for schema in schemas for each in features]
    rules = Rules(feature_dtype(kinds, asked.dtype), asked.missing, whole)
    _check_filler(rules)
    labels = label_dtype(schema[picked.target] for schema in schemas)
    return Layout(picked.target, labels, picked.weight, tuple(features), rules)


def _check_roles(
    files: Sequence[str],
    schemas: Sequence[Schema],
    picked: Picked,
    held: Mapping[str, str],
) -> None:
    target, weight = picked.target, picked.weight
    kind = schemas[0][target]
    if held[target] not in (NUMBER, TEXT, EMPTY) or class_of(plain(kind)) not in (
        NUMBER,
        TEXT,
        EMPTY,
    ):
        raise ValueError(
            f"The target {short(target)} of {files[0]} holds {kind} values. Labels are "
            "numbers, text, or true and false."
        )
    if weight is not None and held[weight] not in (NUMBER, EMPTY):
        raise ValueError(
            f"The weight {short(weight)} of {files[0]} holds {held[weight]} "
            f"({schemas[0][weight]}). Weights are numbers."
        )


def _check_new_names(file: str, features: Sequence[Feature]) -> None:
    names = [name for each in features for name in each.names]
    twice, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise ValueError(
            f"Two features of {file} would be named {short(twice)} when categories are "
            "turned into columns. Rename a column."
        )


def _check_filler(rules: Rules) -> None:
    filler = rules.missing
    if isinstance(filler, str):
        return
    with np.errstate(over="ignore"):
        is_finite = np.isfinite(rules.dtype.type(filler))
    if not is_finite:
        raise ValueError(
            f"missing must be a number that {rules.dtype} holds; got {filler!r}."
        )
