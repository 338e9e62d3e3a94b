# SPDX-License-Identifier: BSD-3-Clause
"""How three of our classes go into a file; skops can take all others as they are."""

import sys
from typing import Any

from sklearn.base import BaseEstimator

from aucmax.io._boosters import LightText
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
    # A model of this kind has imported it.
    families: Any = sys.modules.get("aucmax.auto.families")
    if families is not None and "__getstate__" not in vars(families.BoostingGroup):
        families.BoostingGroup.__getstate__ = _take_as_text


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


def _take_as_text(self: Any) -> dict[str, Any]:
    # As text, its trees can be checked before LightGBM follows them.
    state: dict[str, Any] = BaseEstimator.__getstate__(self)
    if self.library == "lightgbm" and "model_" in state:
        state = state | {"model_": LightText.of(state["model_"])}
    return state


METHODS: tuple[tuple[Any, Any, Any], ...] = (
    (LowRankMoments, _take_slots, _put_slots),
    (TreeLadder, _take_without_trees, _put_and_plant),
)
