# SPDX-License-Identifier: BSD-3-Clause
"""What the user gave: batches of rows and labels."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

# Batches (X, y) or (X, y, sample_weight), the same ones at every iteration.
Source: TypeAlias = Iterable[Any]
NO_ROWS = (
    "The source gave no rows. Check that it is not used up, and that its files are not "
    "empty."
)


def check_re_iterable(source: Source, reader: str, instead: str = "") -> None:
    """Raise TypeError if a source that ``reader`` reads again is a plain iterator."""
    if isinstance(source, Iterator):
        raise TypeError(
            f"{reader} reads the batches several times, but a {type(source).__name__} "
            "can be read only once. Pass a list, or what aucmax.io.read_batches "
            f"returns{instead}."
        )


@contextmanager
def naming_batch(number: int) -> Iterator[None]:
    """Add the number of the batch, counted from 1, to any error."""
    try:
        yield
    except Exception as error:  # whatever it is: it is raised again
        error.add_note(f"This was in batch {number} of the source.")
        raise


def unpack(batch: Any) -> tuple[Any, Any, Any]:
    """Return the rows, the labels and, if there are any, the weights of a batch."""
    if not isinstance(batch, tuple) or len(batch) not in (2, 3):
        raise ValueError(
            "A batch must be (X, y) or, for estimators that take weights, (X, y, "
            f"sample_weight), but this one is a {type(batch).__name__}. Zip rows and "
            "labels together."
        )
    X, y, weight = (*batch, None)[:3]
    return X, y, weight


def name_features(estimator: Any, source: Source) -> None:
    """Record the names of the features, where only the source knows them.

    After the last batch: scikit-learn would warn of rows without names before.
    """
    names = getattr(source, "names", ())
    if names and not hasattr(estimator, "feature_names_in_"):
        estimator.feature_names_in_ = np.array(names, dtype=object)
