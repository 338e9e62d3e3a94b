# SPDX-License-Identifier: BSD-3-Clause
"""Models into files, without pickle."""

import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aucmax._utils.optional import import_optional
from aucmax.io._atomic import replacing
from aucmax.io.models.archive import (
    METADATA,
    SCHEMA,
    check_members,
    nodes_of,
    untrusted_names,
)
from aucmax.io.models.metadata import describe
from aucmax.io.models.parts import check_parts
from aucmax.saved import names_in_files


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Save a model, or a pipeline with one, in a file that `load` opens.

    The file is a zip archive in the format of skops, which holds no code. It appears
    whole, or not at all; a file of that name is replaced.

    Parameters
    ----------
    model : object
        A fitted estimator of aucmax or scikit-learn, a pipeline, a search...
    path : str or path
        The file; by custom its name ends with .skops.
    metadata : dict, default=None
        What `read_metadata` shall return: numbers, text, lists and dicts.

    Raises
    ------
    ValueError
        If a part of the model cannot be saved, or the metadata are not of JSON's kinds.
    OSError
        If the file cannot be written.

    See Also
    --------
    load : The way back.
    model_card : A page for people.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import RankSVM
    >>> from aucmax.io import load, read_metadata, save
    >>> X, y = make_classification(random_state=0)
    >>> model = RankSVM(alpha=0.01).fit(X, y)
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "model.skops")
    >>> save(model, file, metadata={"data": "made up"})
    >>> bool((load(file).decision_function(X) == model.decision_function(X)).all())
    True
    >>> found = read_metadata(file)
    >>> found["parameters"]["alpha"], found["metadata"]
    (0.01, {'data': 'made up'})
    >>> folder.cleanup()
    """
    try:
        # Rather now than when it is loaded.
        check_parts(model)
    except ValueError as error:
        raise ValueError(
            f"This {type(model).__name__} cannot be saved: {error}. Fit it again."
        ) from error
    write_model(model, path, metadata=metadata)


def write_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    metadata: Mapping[str, Any] | None = None,
    compression: int = zipfile.ZIP_DEFLATED,
) -> None:
    """Do what `save` does with a model that is known to be sound, packed or not."""
    skops = import_optional("skops.io", "io")
    description = describe(model, metadata)
    with (
        replacing(Path(path)) as draft,
        tempfile.TemporaryFile(dir=draft.parent) as plain,
    ):
        try:
            skops.dump(model, plain)
        except OSError:
            raise
        # What cannot be saved fails in many ways, most of them a TypeError.
        except Exception as error:
            raise ValueError(
                f"This {type(model).__name__} cannot be saved: {error}. Replace the "
                "part that is no plain estimator, function or array."
            ) from error
        with (
            zipfile.ZipFile(plain) as source,
            zipfile.ZipFile(draft, "w", compression) as target,
        ):
            for name in source.namelist():
                if name != SCHEMA:
                    target.writestr(name, source.read(name))
            target.writestr(SCHEMA, _renamed(source.read(SCHEMA)))
        with zipfile.ZipFile(draft) as archive:
            asked = untrusted_names(archive)
        _check_names(model, asked)
        with zipfile.ZipFile(draft, "a", zipfile.ZIP_DEFLATED) as archive:
            text = json.dumps(description | {"needs_trust": asked}, ensure_ascii=False)
            archive.writestr(METADATA, text)
        # Rather now than when it is loaded.
        with zipfile.ZipFile(draft) as archive:
            check_members(archive, draft.stat().st_size)


def _renamed(schema: bytes) -> str:
    """Return a schema in which our classes have the names that stay."""
    names = names_in_files()
    content = json.loads(schema)
    for node in nodes_of(content):
        name = names.get(f"{node.get('__module__')}.{node['__class__']}")
        if name is not None:
            node["__module__"], _, node["__class__"] = name.rpartition(".")
    return json.dumps(content)


def _check_names(model: Any, names: list[str]) -> None:
    """Raise if a type or function could not be found again by its name."""
    for name in names:
        if "<" in name or not _is_found(name):
            raise ValueError(
                f"This {type(model).__name__} cannot be saved: {name} would not be "
                "found again, because it has no name (a lambda) or was made inside a "
                "function. Define it at the top of a module."
            )


def _is_found(name: str) -> bool:
    module, _, rest = name.rpartition(".")
    while module and module not in sys.modules:
        module, _, first = module.rpartition(".")
        rest = f"{first}.{rest}"
    found: Any = sys.modules.get(module)
    for part in rest.split("."):
        found = getattr(found, part, None)
    return found is not None
