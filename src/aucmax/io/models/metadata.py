# SPDX-License-Identifier: BSD-3-Clause
"""What a model file tells of itself, in a part of its own."""

import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from aucmax.io._errors import damage_errors, damaged
from aucmax.io.models.archive import METADATA, SCHEMA, check_members
from aucmax.io.models.description import (
    PLAIN,
    parameters,
    short_repr,
    type_name,
    versions,
)

# Goes up when files change so that older versions cannot read them.
FORMAT = 1


class NewerFormat(ValueError):
    """A file of a later version of aucmax."""


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what is known of a saved model, without loading it.

    Parameters
    ----------
    path : str or path
        A file that `save` wrote.

    Returns
    -------
    metadata : dict
        ``format``, the number of the file's format; ``model``, the name of its type;
        ``parameters``; ``saved_at``; ``versions`` by package; ``needs_trust``, the
        types that `load` will ask about; ``metadata``, what was given to `save`.

    Raises
    ------
    ValueError
        If the file was not written by `save`, is cut off or damaged, or its format is
        newer than this version of aucmax.
    """
    file = Path(path)
    with open_archive(file) as archive:
        return metadata_of(archive, file)


@contextmanager
def open_archive(file: Path) -> Iterator[zipfile.ZipFile]:
    """Open a model file whose parts are no larger than they may be."""
    if not file.is_file():
        raise FileNotFoundError(f"There is no file {file}.")
    with file.open("rb") as content:
        try:
            archive = zipfile.ZipFile(content)
            check_members(archive, file.stat().st_size)
        except damage_errors() as error:
            raise _damaged(file, error) from error
        yield archive


def metadata_of(archive: zipfile.ZipFile, file: Path) -> dict[str, Any]:
    """Return what `read_metadata` does, of a file that is open."""
    is_ours = METADATA in archive.namelist()
    try:
        found = json.loads(archive.read(METADATA)) if is_ours else None
    except damage_errors() as error:
        raise _damaged(file, error) from error
    if not is_ours or not isinstance(found, dict):
        raise ValueError(
            f"{file} was not written by aucmax.io.save. "
            + (
                "skops.io.load may read it."
                if SCHEMA in archive.namelist()
                else "Give the name of a file that was."
            )
        )
    _check_format(file, found)
    return found


def _damaged(file: Path, error: Exception) -> ValueError:
    return damaged(str(file), error, "a model file", remedy="Get it again.")


def _check_format(file: Path, found: dict[str, Any]) -> None:
    number, saved = found.get("format"), found.get("versions")
    if type(number) is not int or number < 1 or not isinstance(saved, dict):
        raise ValueError(
            f"{file} is damaged: it does not tell its format. Get it again."
        )
    if number > FORMAT:
        raise NewerFormat(
            f"{file} has format {number}, of aucmax {saved.get('aucmax')}; aucmax "
            f"{versions()['aucmax']} reads formats up to {FORMAT}. Update aucmax."
        )


def describe(model: Any, metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what is written of a model; raise if the metadata cannot be."""
    return {
        "format": FORMAT,
        "model": type_name(model),
        "parameters": {
            name: value if type(value) in PLAIN else short_repr(value)
            for name, value in parameters(model, deep=True).items()
        },
        "saved_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "metadata": _checked({} if metadata is None else metadata),
    }


def _checked(metadata: Mapping[str, Any]) -> Any:
    """Return metadata as they will be read."""
    if not isinstance(metadata, Mapping):
        raise ValueError(f"metadata must be a dict; got {short_repr(metadata)}.")
    try:
        return json.loads(json.dumps(dict(metadata), default=_plain))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"metadata must be numbers, text, lists and dicts, by names: {error}."
        ) from error


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{short_repr(value)} is a {type(value).__name__}")
