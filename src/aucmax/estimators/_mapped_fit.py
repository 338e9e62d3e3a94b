# SPDX-License-Identifier: BSD-3-Clause
"""The fit that NBAUC and RFAUC share, once rows are seen through their map."""

from collections.abc import Callable
from typing import Any, NamedTuple

from aucmax._utils.checkpoint import Offer, State
from aucmax.design import Design
from aucmax.estimators._base import TrainingRows
from aucmax.estimators._holdout import row_hashes
from aucmax.estimators._kernel_choice import KernelChoice, refine_alpha
from aucmax.losses import SquaredHinge
from aucmax.solvers._base import Result
from aucmax.solvers.nonlinear_cg import nonlinear_cg


class MappedFit(NamedTuple):
    """The minimum, and the penalty it was found with."""

    result: Result
    alpha: float


def fit_mapped(
    model: Any,
    design: Design,
    rows: TrainingRows,
    choice: KernelChoice,
    *,
    saved: State | None = None,
    offer: Offer | None = None,
) -> MappedFit:
    """Minimise on all rows, with the parameters of ``model``, which is only read.

    The states offered have ``alpha`` besides what the solver needs.
    """
    alpha, start = choice.alpha, None
    if saved is not None:
        alpha = saved["alpha"]
    elif model.alpha == "auto" and choice.is_from_a_part:
        alpha, start = refine_alpha(
            design,
            rows,
            rows.collect(row_hashes),
            alpha,
            tol=model.tol,
            verbose=model.verbose,
        )

    def offer_all(state: Callable[[], State]) -> None:
        if offer is not None:
            offer(lambda: {"alpha": alpha, "solver": state()})

    result = nonlinear_cg(
        design,
        rows.is_pos,
        rows.weight,
        loss=SquaredHinge(),
        alpha=alpha,
        start=start,
        tol=model.tol,
        max_iter=model.max_iter,
        on_step=model._on_step(),
        saved=None if saved is None else saved["solver"],
        offer=None if offer is None else offer_all,
    )
    return MappedFit(result, alpha)
