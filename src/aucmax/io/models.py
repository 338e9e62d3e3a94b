# SPDX-License-Identifier: BSD-3-Clause
"""Models in files, without pickle: what a file may contain is checked first."""

import os
import sys
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.exceptions import InconsistentVersionWarning

from aucmax._utils.optional import import_optional
from aucmax.io._archive import check_members, check_schema
from aucmax.io._atomic import replacing
from aucmax.io._describe import versions
from aucmax.io._parts import check_parts
from aucmax.io._trusted import REASONS, TRUSTED, is_reviewed
from aucmax.io.metadata import describe, metadata_of, open_archive, write_metadata

Trusted = Sequence[str | type]


class UntrustedModel(ValueError):
    """A file names types that were not said to be trusted; nothing was loaded.

    Attributes
    ----------
    types : list of str
        Their names, as ``trusted`` takes them.
    """

    def __init__(self, message: str, types: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.types = list(types)


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
    """Do what `save` does, packed or not."""
    skops = import_optional("skops.io", "io")
    description = describe(model, metadata)
    with replacing(Path(path)) as draft:
        try:
            with draft.open("wb") as file:
                skops.dump(model, file, compression=compression)
        except OSError:
            raise
        # What cannot be saved fails in many ways, most of them a TypeError.
        except Exception as error:
            raise ValueError(
                f"This {type(model).__name__} cannot be saved: {error}. Replace the "
                "part that is no plain estimator, function or array."
            ) from error
        with zipfile.ZipFile(draft) as archive:
            asked = _untrusted(skops, archive, ())
        _check_names(model, asked)
        write_metadata(draft, description | {"needs_trust": asked})
        # Rather now than when it is loaded.
        with zipfile.ZipFile(draft) as archive:
            check_members(archive, draft.stat().st_size)


def load(path: str | os.PathLike[str], *, trusted: Trusted | None = None) -> Any:
    """Load a model that `save` saved.

    No code is in the file, and none that it names is run unless it belongs to types
    known to be harmless: those of aucmax, and those of scikit-learn, numpy and scipy
    that skops trusts.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : sequence of str or type, default=None
        More types that may be loaded, for example your own transformer; of these,
        code may be run.

    Returns
    -------
    model : object
        As it was saved: the same scores, and learning goes on where it stopped.

    Raises
    ------
    UntrustedModel
        If the file names other types; the message has them.
    ValueError
        If the file was not written by `save`, is cut off or damaged, or comes from a
        newer version of aucmax whose files this one does not know.

    Warns
    -----
    UserWarning
        If the file was saved with another minor version of scikit-learn.

    Notes
    -----
    Checked are the names of types, what the file claims against its size, and whatever
    compiled code follows: arrays and indices of our estimators, sparse matrices, trees,
    support vectors. What the numbers mean cannot be checked: a file made to mislead can
    give wrong scores. SECURITY.md has the details.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from aucmax import RankSVM
    >>> from aucmax.io import load, save
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "model.skops")
    >>> save(RankSVM(alpha=0.1), file)
    >>> load(file)
    RankSVM(alpha=0.1)
    >>> folder.cleanup()
    """
    skops = import_optional("skops.io", "io")
    more = _names(trusted)
    file = Path(path)
    with open_archive(file) as archive:
        description = metadata_of(archive, file)
        _warn_of_versions(file, description["versions"])
        return _load(skops, archive, file, description, more)


def _load(
    skops: Any,
    archive: zipfile.ZipFile,
    file: Path,
    description: dict[str, Any],
    more: list[str],
) -> Any:
    untrusted = import_optional("skops.io.exceptions", "io")
    try:
        if _not_reviewed(archive, more):
            raise _refusal(file, _untrusted(skops, archive, more), more)
        with warnings.catch_warnings():
            # Said already, once for the file and not once for each of its parts.
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            # Of a number that is complex or NaN where the model has an integer.
            warnings.simplefilter("error", RuntimeWarning)
            model = skops.load(archive.fp, trusted=[*TRUSTED, *more])
        check_parts(model)
        return model
    except UntrustedModel:
        raise
    except untrusted.UntrustedTypesFoundException:
        raise _refusal(file, _untrusted(skops, archive, more), more) from None
    except ModuleNotFoundError as error:
        raise _failure(file, description, error) from error
    # A package that only some models need; the message says how to install it.
    except ImportError:
        raise
    # Damage shows in many ways: BadZipFile, zlib.error, KeyError, UnicodeDecodeError...
    except Exception as error:
        raise _failure(file, description, error) from error


def trusted_types() -> list[str]:
    """Return the types that `load` lets through besides those that skops trusts.

    For tools that call skops themselves, such as MLflow. They check names and nothing
    else that `load` checks, so give them only files whose maker you know.

    Returns
    -------
    names : list of str
        As the parameter ``trusted`` of ``skops.io.load`` takes them.

    Examples
    --------
    >>> from aucmax import RankSVM
    >>> from aucmax.io import trusted_types
    >>> import skops.io
    >>> data = skops.io.dumps(RankSVM(alpha=0.1))
    >>> skops.io.loads(data, trusted=trusted_types())
    RankSVM(alpha=0.1)
    """
    return list(TRUSTED)


def _names(trusted: Trusted | None) -> list[str]:
    if trusted is None:
        return []
    if isinstance(trusted, str) or not isinstance(trusted, Sequence):
        raise ValueError(
            f"trusted must be a list of types or their names; got {trusted!r}."
        )
    for each in trusted:
        if not isinstance(each, str | type):
            raise ValueError(f"trusted holds {each!r}, which is no type and no name.")
    return [
        each if isinstance(each, str) else f"{each.__module__}.{each.__name__}"
        for each in trusted
    ]


def _untrusted(skops: Any, archive: zipfile.ZipFile, more: Sequence[str]) -> list[str]:
    """Return the names in a file that nobody said to trust."""
    asked = {*skops.get_untrusted_types(file=archive.fp)} - {*TRUSTED, *more}
    return sorted(asked | _not_reviewed(archive, more))


def _not_reviewed(archive: zipfile.ZipFile, more: Sequence[str]) -> set[str]:
    """Return what skops trusts, as it does all of scikit-learn, and we do not."""
    names, misused = check_schema(archive, more)
    for name in misused:
        if name in TRUSTED or name.startswith("numpy."):
            raise ValueError(f"it makes a {name} in a way that is not meant for it")
    asked = misused | {name for name in names if not is_reviewed(name)}
    return asked - {*TRUSTED, *more}


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


def _refusal(file: Path, names: list[str], more: list[str]) -> UntrustedModel:
    reasons = "".join(f" {name}: {REASONS[name]}." for name in names if name in REASONS)
    return UntrustedModel(
        f"{file} names {', '.join(names)}, whose code may be run when it is loaded, so "
        f"it was not.{reasons} If you trust whoever made the file, pass "
        f"trusted={[*more, *names]}.",
        names,
    )


def _failure(file: Path, description: dict[str, Any], error: Exception) -> ValueError:
    if isinstance(error, ModuleNotFoundError):
        return ValueError(
            f"{file} cannot be loaded: it needs the module {error.name}, which cannot "
            "be imported here. Install it, or put it where it was when the file was "
            "saved."
        )
    now, then = versions(), description["versions"]
    if all(then.get(name) == now[name] for name in ("aucmax", "scikit-learn", "numpy")):
        return ValueError(
            f"{file} cannot be loaded: it is damaged ({error}). Get it again."
        )
    saved = ", ".join(f"{name} {version}" for name, version in then.items())
    return ValueError(
        f"{file} cannot be loaded ({error}). It is damaged, or it needs the versions "
        f"with which it was saved: {saved}."
    )


def _warn_of_versions(file: Path, then: Mapping[str, str]) -> None:
    name = "scikit-learn"
    saved, here = str(then.get(name)), versions()[name]
    if saved.split(".")[:2] != here.split(".")[:2]:
        warnings.warn(
            f"{file} was saved with {name} {saved} and is loaded with {here}; scores "
            "may differ. Compare some, or fit again.",
            UserWarning,
            stacklevel=3,
        )
