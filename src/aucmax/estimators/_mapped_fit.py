# SPDX-License-Identifier: BSD-3-Clause
"""The fit that NBAUC and RFAUC share, once rows are seen through their map."""

from collections.abc import Callable
from typing import Any

from aucmax._utils.checkpoint import State
from aucmax._utils.typing import FloatArray
from aucmax.design import Design
from aucmax.estimators._base import Labelled
from aucmax.estimators._kernel_choice import KernelChoice, refine_alpha
from aucmax.losses import SquaredHinge
from aucmax.solvers._base import Checkpointing, Problem, Result
from aucmax.solvers.nonlinear_cg import NO_CHECKPOINTS, nonlinear_cg


def fit_mapped(
    model: Any,
    design: Design,
    rows: Labelled,
    choice: KernelChoice,
    keys: Callable[[], FloatArray],
    *,
    checkpointing: Checkpointing = NO_CHECKPOINTS,
) -> Result:
    """Minimise on all rows and keep on ``model`` what was chosen and how it went.

    ``keys`` returns the rows' keys. The states offered have ``alpha`` besides what the
    solver needs.
    """
    alpha, start = choice.alpha, None
    saved, offer = checkpointing
    if saved is not None:
        alpha = saved["alpha"]
    elif model.alpha == "auto" and choice.is_from_a_part:
        alpha, start = refine_alpha(
            design, rows, keys(), alpha, tol=model.tol, verbose=model.verbose
        )

    def offer_all(state: Callable[[], State]) -> None:
        if offer is not None:
            offer(lambda: {"alpha": alpha, "solver": state()})

    result = nonlinear_cg(
        Problem(design, SquaredHinge(), rows.is_pos, rows.weight),
        alpha,
        start=start,
        tol=model.tol,
        max_iter=model.max_iter,
        on_step=model._on_step(),
        checkpointing=Checkpointing(
            None if saved is None else saved["solver"],
            None if offer is None else offer_all,
        ),
    )
    model._warn_unless_converged(result)
    model.gamma_, model.alpha_, model.tuning_ = choice.gamma, alpha, choice.tried
    model.n_iter_ = result.n_iter
    model.objective_ = result.value
    model.history_ = result.history
    return result
