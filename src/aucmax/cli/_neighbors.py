# SPDX-License-Identifier: BSD-3-Clause
"""Nearest neighbours that can be saved without the trees they are found by."""

from typing import Any

from sklearn.neighbors import KNeighborsClassifier

from aucmax.saved import saved_as


@saved_as("Neighbors")
class Neighbors(KNeighborsClassifier):
    """Vote of the nearest neighbours.

    scikit-learn follows the places in a tree without looking, so that a tree is nothing
    to take from a file. It is left out of what is saved, and planted again.
    """

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return state | {"_tree": None} if "_tree" in state else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if any(callable(getattr(type(self), name, None)) for name in state):
            raise ValueError("an attribute replaces a method")
        super().__setstate__(state)
        if "_fit_X" in state:
            # Rows and labels are looked at again, whatever else the file says.
            self.fit(self._fit_X, self.classes_[self._y])
