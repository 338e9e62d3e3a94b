# SPDX-License-Identifier: BSD-3-Clause
"""How two of our classes go into a file; skops can take all others as they are."""

from typing import Any

from aucmax.neighbors.ladder import TreeLadder
from aucmax.summaries.low_rank import LowRankMoments


def add_states() -> None:
    """Give the classes the methods by which skops, and pickle, take and set states.

    What they give is as good for a pickle that is read where they were not added.
    """
    for owner, take, put in METHODS:
        if "__getstate__" not in vars(owner):
            owner.__getstate__ = take
            owner.__setstate__ = put


def _take_slots(self: Any) -> Any:
    # As without it; but pickle's oldest protocol, which skops uses, wants it said.
    return object.__getstate__(self)


def _put_slots(self: Any, state: tuple[None, dict[str, Any]]) -> None:
    for name, value in state[1].items():
        setattr(self, name, value)


def _take_without_trees(self: Any) -> dict[str, Any]:
    # scipy's trees are bytes full of places in memory: nothing to take from a stranger.
    state: dict[str, Any] = vars(self)
    return state | {"_parts": []}


def _put_and_plant(self: Any, state: dict[str, Any]) -> None:
    vars(self).update(state)
    if not self._parts:
        self.extend()


METHODS: tuple[tuple[Any, Any, Any], ...] = (
    (LowRankMoments, _take_slots, _put_slots),
    (TreeLadder, _take_without_trees, _put_and_plant),
)
