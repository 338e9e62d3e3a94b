# SPDX-License-Identifier: BSD-3-Clause
"""What a fit and the place where it keeps its states have to agree on."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Protocol

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


def describe_fit(model: Any) -> State:
    """Return by what a checkpoint knows the fit of a model again."""
    return {
        "estimator": type(model).__name__,
        "parameters": {name: repr(value) for name, value in model.get_params().items()},
    }


def take_over(model: Any, saved: Any) -> None:
    """Give a model the state of a saved one of its kind."""
    vars(model).clear()
    vars(model).update(vars(saved))


def skip(batches: Iterable[Any], n_batches: int) -> Iterable[Any]:
    """Return the batches after so many; unread, if the source knows how."""
    if n_batches and hasattr(batches, "skip"):
        rest: Iterable[Any] = batches.skip(n_batches)
        return rest
    return islice(batches, n_batches, None)
