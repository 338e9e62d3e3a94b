# SPDX-License-Identifier: BSD-3-Clause
"""The fit that NBAUC and RFAUC share, once rows are seen through their map."""

from collections.abc import Callable
from typing import Any, NamedTuple

from aucmax._utils.checkpoint import State
from aucmax.design import Design
from aucmax.estimators._base import TrainingRows
from aucmax.estimators._kernel_choice import KernelChoice, refine_alpha
from aucmax.losses import SquaredHinge
from aucmax.solvers.base import Checkpointing, Problem, Result
from aucmax.solvers.nonlinear_cg import NO_CHECKPOINTS, nonlinear_cg


class MappedFit(NamedTuple):
    """The minimum, and the width and penalty it was found with."""

    result: Result
    choice: KernelChoice


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

    Where alpha was chosen, it is refined on these rows first. The states offered have
    the choice and ``chosen`` besides what the solver needs.
    """
    start = None
    saved, offer = checkpointing
    if saved is not None:
        choice = KernelChoice(saved["gamma"], saved["alpha"], saved["tried"])
    elif model.alpha == "auto" and len(choice.tried):
        choice, start = refine_alpha(design, rows, choice, verbose=model.verbose)
    kept = {**(chosen or {}), **choice._asdict()}

    def offer_all(state: Callable[[], State]) -> None:
        if offer is not None:
            offer(lambda: {**kept, "solver": state()})

    result = nonlinear_cg(
        Problem(design, SquaredHinge(), rows.is_pos, rows.weight),
        choice.alpha,
        start=start,
        tol=model.tol,
        max_iter=model.max_iter,
        on_step=model._on_step(),
        checkpointing=Checkpointing(
            None if saved is None else saved["solver"],
            None if offer is None else offer_all,
        ),
    )
    return MappedFit(result, choice)
