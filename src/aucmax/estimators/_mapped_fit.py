# SPDX-License-Identifier: BSD-3-Clause
"""The fit that NBAUC and RFAUC share, once rows are seen through their map."""

from collections.abc import Callable
from typing import Any, NamedTuple

from aucmax._utils.checkpoint import State
from aucmax.design import Design
from aucmax.estimators._base import TrainingRows
from aucmax.estimators._holdout import row_hashes
from aucmax.estimators._kernel_choice import KernelChoice, refine_alpha
from aucmax.losses import SquaredHinge
from aucmax.solvers.base import Checkpointing, Problem, Result
from aucmax.solvers.nonlinear_cg import NO_CHECKPOINTS, nonlinear_cg


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
    checkpointing: Checkpointing = NO_CHECKPOINTS,
    chosen: State | None = None,
) -> MappedFit:
    """Minimise on all rows, with the parameters of ``model``, which is only read.

    The states offered have ``alpha`` and ``chosen`` besides what the solver needs.
    """
    alpha, start = choice.alpha, None
    saved, offer = checkpointing
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
            offer(lambda: {**(chosen or {}), "alpha": alpha, "solver": state()})

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
    return MappedFit(result, alpha)
