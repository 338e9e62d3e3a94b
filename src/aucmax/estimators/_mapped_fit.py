# SPDX-License-Identifier: BSD-3-Clause
"""The fit that NBAUC and RFAUC share, once rows are seen through their map."""

from typing import Any

from aucmax._utils.validation import FitInputs
from aucmax.design import MappedDesign
from aucmax.estimators._kernel_choice import KernelChoice, refine_alpha
from aucmax.losses import SquaredHinge
from aucmax.solvers._base import Result
from aucmax.solvers.nonlinear_cg import nonlinear_cg


def fit_mapped(
    model: Any, design: MappedDesign, inputs: FitInputs, choice: KernelChoice
) -> Result:
    """Minimise on all rows and keep on ``model`` what was chosen and how it went."""
    alpha, start = choice.alpha, None
    if model.alpha == "auto" and choice.is_from_a_part:
        alpha, start = refine_alpha(
            design, inputs, alpha, tol=model.tol, verbose=model.verbose
        )
    result = nonlinear_cg(
        design,
        inputs.is_pos,
        inputs.weight,
        loss=SquaredHinge(),
        alpha=alpha,
        start=start,
        tol=model.tol,
        max_iter=model.max_iter,
        on_step=model._on_step(),
    )
    model._warn_unless_converged(result)
    model.gamma_, model.alpha_, model.tuning_ = choice.gamma, alpha, choice.tried
    model.n_iter_ = result.n_iter
    model.objective_ = result.value
    model.history_ = result.history
    return result
