# SPDX-License-Identifier: BSD-3-Clause
"""Boosted trees of LightGBM that are saved as text, which can be checked."""

from typing import Any

from aucmax._utils.optional import import_optional
from aucmax.auto.lightgbm_text import LightGBMText, clean
from aucmax.saved import saved_as

lightgbm = import_optional("lightgbm", "boost")
LGBMClassifier: Any = lightgbm.LGBMClassifier
# What of the training is no use later, and of types that a file may not name.
LEFT_OUT = ("_best_score", "_evals_result")


@saved_as("LightGBM")
class LightGBM(LGBMClassifier):
    """Boosted trees of LightGBM.

    Saved as text, its trees are looked at before LightGBM reads them.
    """

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        # Of another objective, the text would not tell how scores become probabilities.
        if state.get("_Booster") is None or state["_objective"] != "binary":
            return state
        try:
            text = LightGBMText.of(self)
        except ValueError:  # of a kind that cannot be checked, such as linear leaves
            return state
        return state | {"_Booster": text} | {name: {} for name in LEFT_OUT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        text = state.get("_Booster")
        if isinstance(text, LightGBMText):
            booster = lightgbm.Booster(model_str=clean(text.text))
            state = state | {"_Booster": booster}
        self.__dict__.update(state)
