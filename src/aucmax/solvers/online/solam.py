# SPDX-License-Identifier: BSD-3-Clause
"""The saddle point of the pairwise square loss, in O(nonzeros) per row."""

from aucmax import _kernels
from aucmax._utils.typing import Matrix
from aucmax.saved import saved_as
from aucmax.solvers.online._averaged import AveragedLearner

# Steps of no setting, as a share of the largest stable one. Of 1/16 to 2 these were the
# best or within 0.002 of the best AUC on nine sets. With duals that have steps of their
# own, 1/2 is already unstable.
EXACT_RATE, PAPER_RATE = 0.5, 0.125


@saved_as("SaddlePointLearner")
class SaddlePointLearner(AveragedLearner):
    """Stochastic primal-dual steps; the model is the average of the weights.

    Parameters
    ----------
    rows : array or CSR matrix
        Rows like those to learn from.
    alpha : float
        Strength of the penalty, relative to the mean over pairs.
    radius : float
        Largest norm of the weights.
    step_size : float or None
        ``zeta`` for steps of ``zeta / sqrt(t)``, which also weigh the average. None for
        a constant step from the sizes of the rows, and equal weights.
    exact_duals : bool
        Whether the mean scores of the classes are computed from the means of the rows,
        which are then subtracted from the rows, or learned by steps.
    """

    module = "solam"

    def __init__(
        self,
        rows: Matrix,
        *,
        alpha: float,
        radius: float,
        step_size: float | None = None,
        exact_duals: bool = True,
    ) -> None:
        auto = EXACT_RATE if exact_duals else PAPER_RATE
        rates = _kernels.solam.Rates(
            float(alpha),
            float(radius),
            auto if step_size is None else float(step_size),
            step_size is None,
            exact_duals,
        )
        super().__init__(rows, rates, is_centred=exact_duals)

    def _advice(self) -> str:
        return (
            "A step of SOLAM overflowed: the size of the rows does not suit "
            f"step_size={self.rates.rate:g} and a radius of {self.rates.radius:g}. "
            "Lower step_size, or scale the features, for example with Normalizer."
        )
