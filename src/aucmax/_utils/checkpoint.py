# SPDX-License-Identifier: BSD-3-Clause
"""What a fit and the place where it keeps its states have to agree on."""

import functools
import hashlib
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Protocol

import numpy as np

from aucmax._utils.typing import is_sparse

# All that is needed to go on: numbers, text, arrays, models, lists and dicts of them.
State = dict[str, Any]
# Takes a state, if it is time to.
Offer = Callable[[Callable[[], State]], None]


class Checkpoint(Protocol):
    """Where a long fit keeps what it has reached; `aucmax.io.Checkpoints` is one."""

    def resume(self, what: State) -> State | None:
        """Return the state last kept of the fit that ``what`` describes, or None."""
        ...

    def offer(self, state: Callable[[], State]) -> None:
        """Keep what ``state()`` returns, if it is time to."""
        ...


def check_checkpoint(checkpoint: Any) -> None:
    """Raise if something else was given, such as the name of a folder."""
    if not hasattr(checkpoint, "resume") or not hasattr(checkpoint, "offer"):
        raise TypeError(
            f"checkpoint must be an aucmax.io.Checkpoints, got {checkpoint!r}. Pass "
            "Checkpoints(folder)."
        )


def describe_fit(model: Any) -> State:
    """Return by what a checkpoint knows the fit of a model again."""
    return {
        "estimator": type(model).__name__,
        "parameters": {
            name: _told(value)
            for name, value in model.get_params().items()
            if name != "verbose"
        },
    }


def _told(value: Any) -> str:
    """Return a parameter as a text that is the same in every process."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.random.RandomState):
        return f"RandomState {fingerprint(*value.get_state())}"
    if isinstance(value, np.random.Generator):
        return f"Generator {fingerprint(str(value.bit_generator.state))}"
    if isinstance(value, np.ndarray) or is_sparse(value):
        return f"array {fingerprint(value)}"
    if isinstance(value, functools.partial):
        named = {name: _told(given) for name, given in value.keywords.items()}
        given = [*map(_told, value.args), *sorted(named.items())]
        return f"partial of {_told(value.func)} {given}"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return repr(value)


def fingerprint(*values: Any) -> str:
    """Return digits by which arrays, CSR matrices, frames and texts are known again.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax._utils.checkpoint import fingerprint
    >>> X = np.arange(6.0).reshape(2, 3)
    >>> fingerprint(X) == fingerprint(X.copy()), fingerprint(X) == fingerprint(X.T)
    (True, False)
    """
    digest = hashlib.blake2b(digest_size=16)
    for value in values:
        parts = [value]
        if is_sparse(value):
            rows = value.tocsr()
            parts = [rows.data, rows.indices, rows.indptr, rows.shape]
        for part in parts:
            array = np.asarray(part)
            digest.update(f"{array.dtype.kind} {array.shape}".encode())
            if array.dtype.kind in "biufcmM":
                array = np.ascontiguousarray(array).reshape(-1)
                digest.update(array.view(np.uint8).data)
            else:
                digest.update(repr(array.ravel().tolist()).encode())
    return digest.hexdigest()


def restore_into(model: Any, saved: Any) -> None:
    """Give a model the state of a saved one of its kind; it says as much as before."""
    kept = {name: value for name, value in vars(model).items() if name == "verbose"}
    vars(model).clear()
    vars(model).update(vars(saved) | kept)


def skip_batches(batches: Iterable[Any], n_batches: int) -> Iterable[Any]:
    """Return the batches after so many; unread, if the source knows how."""
    if n_batches and hasattr(batches, "skip"):
        rest: Iterable[Any] = batches.skip(n_batches)
        return rest
    return islice(batches, n_batches, None)


def resume_batches(batches: Iterable[Any], n_batches: int, first: str) -> Iterable[Any]:
    """Return the batches after so many, if the first one is that of ``first``."""
    if n_batches == 0:
        return batches
    reader = iter(batches)
    batch = next(reader, None)
    if batch is None or fingerprint(*batch) != first:
        # Else its thread would live as long as the error.
        _close(reader)
        raise ValueError(
            "The checkpoint is of another fit: its first batch was not the one that "
            "comes now. Give the same files, columns and batch size, or another folder."
        )
    if hasattr(batches, "skip"):
        _close(reader)
        rest: Iterable[Any] = batches.skip(n_batches)
        return rest
    return islice(reader, n_batches - 1, None)


def _close(reader: Any) -> None:
    if hasattr(reader, "close"):
        reader.close()
