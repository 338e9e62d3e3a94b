# SPDX-License-Identifier: BSD-3-Clause
"""Models out of files: what a file contains is checked first."""

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.exceptions import InconsistentVersionWarning

from aucmax._utils.optional import import_optional
from aucmax.io.models.archive import check_schema, untrusted_names
from aucmax.io.models.description import versions
from aucmax.io.models.metadata import (
    metadata_of,
    open_archive,
)
from aucmax.io.models.parts import check_parts
from aucmax.io.models.trusted import REASONS, is_trusted
from aucmax.saved import names_in_files

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
    refusals = import_optional("skops.io.exceptions", "io")
    more = _names(trusted or ())
    file = Path(path)
    with open_archive(file) as archive:
        saved_with = metadata_of(archive, file)["versions"]
        _warn_of_versions(file, saved_with)
        try:
            names, asked = check_schema(archive, more)
            if asked:
                raise _refusal(file, untrusted_names(archive, more), more)
            with warnings.catch_warnings():
                # Said already, once for the file and not once for each of its parts.
                warnings.simplefilter("ignore", InconsistentVersionWarning)
                # Of a number that is complex or NaN where the model has an integer.
                warnings.simplefilter("error", RuntimeWarning)
                known = [*filter(is_trusted, names), *more]
                model = skops.load(archive.fp, trusted=known)
            check_parts(model)
            return model
        except UntrustedModel:
            raise
        except refusals.UntrustedTypesFoundException:
            raise _refusal(file, untrusted_names(archive, more), more) from None
        except ModuleNotFoundError as error:
            raise ValueError(
                f"{file} cannot be loaded: it needs the module {error.name}, which "
                "cannot be imported here. Install it, or put it where it was when the "
                "file was saved."
            ) from error
        # A package that only some models need; the message says how to install it.
        except ImportError:
            raise
        # Damage shows in many ways: BadZipFile, zlib.error, KeyError, RecursionError...
        except Exception as error:
            raise _failure(file, saved_with, error) from error


def _names(trusted: Trusted) -> list[str]:
    """Return the names of types as they are in files."""
    if isinstance(trusted, str) or not isinstance(trusted, Sequence):
        raise ValueError(
            f"trusted must be a list of types or their names; got {trusted!r}."
        )
    names, ours = [], names_in_files()
    for each in trusted:
        if not isinstance(each, str | type):
            raise ValueError(f"trusted holds {each!r}, which is no type and no name.")
        name = each if isinstance(each, str) else f"{each.__module__}.{each.__name__}"
        names.append(ours.get(name, name))
    return names


def _refusal(file: Path, names: list[str], more: list[str]) -> UntrustedModel:
    reasons = "".join(f" {name}: {REASONS[name]}." for name in names if name in REASONS)
    return UntrustedModel(
        f"{file} names {', '.join(names)}, whose code may be run when it is loaded, so "
        f"it was not.{reasons} If you trust whoever made the file, pass "
        f"trusted={[*more, *names]}.",
        names,
    )


def _failure(file: Path, then: Mapping[str, str], error: Exception) -> ValueError:
    now = versions()
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
