# SPDX-License-Identifier: BSD-3-Clause
"""Learning from one batch after the other, with checkpoints to resume from."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._utils.checkpoint import (
    Checkpoint,
    check_checkpoint,
    describe_fit,
    fingerprint,
    restore_into,
    resume_batches,
)
from aucmax._utils.progress import report
from aucmax.streams.source import (
    NO_ROWS,
    Source,
    check_re_iterable,
    name_features,
    naming_batch,
    unpack,
)

# Batches between two lines of progress.
REPORT_EVERY = 10


def partial_fit_all(
    model: Any,
    source: Source,
    classes: ArrayLike | None,
    checkpoint: Checkpoint | None,
) -> None:
    """Call ``partial_fit`` with each batch in every pass, or with those that remain."""
    try:
        learn = model.partial_fit
    except AttributeError as error:
        # Why a model with these parameters has no partial_fit is in the cause.
        raise ValueError(str(error.__cause__ or error)) from error
    n_passes = getattr(model, "n_passes", 1)
    if n_passes > 1:
        check_re_iterable(source, f"n_passes={n_passes}")
    first_pass, n_done, first = 0, 0, ""
    if checkpoint is not None:
        check_checkpoint(checkpoint)
        saved = checkpoint.resume(describe_fit(model))
        if saved is not None:
            restore_into(model, saved["model"])
            first_pass, n_done = saved["n_passed"], saved["n_batches"]
            first = saved["first"]
    for n_passed in range(first_pass, n_passes):
        batches = resume_batches(source, n_done, first)
        for number, batch in enumerate(batches, start=n_done + 1):
            with naming_batch(number):
                X, y = _without_weight(batch)
                if number == 1 and checkpoint is not None:
                    first = fingerprint(X, y)
                if np.shape(X)[:1] != (0,):
                    learn(X, y, classes=classes)
            if checkpoint is not None:
                state = {
                    "model": model,
                    "n_passed": n_passed,
                    "n_batches": number,
                    "first": first,
                }
                checkpoint.offer(state.copy)
            if getattr(model, "verbose", 0) and number % REPORT_EVERY == 0:
                report(
                    f"[{type(model).__name__}] pass {n_passed + 1} of {n_passes}  "
                    f"batch {number}  rows {model.n_samples_seen_}"
                )
        n_done = 0
    name_features(model, source)
    if not hasattr(model, "classes_"):
        raise ValueError(NO_ROWS)


def _without_weight(batch: Any) -> tuple[Any, Any]:
    X, y, *_ = unpack(batch)
    if len(batch) == 3:
        raise ValueError(
            "A batch has weights, but online estimators take none: several steps are "
            "not one step with a weight. Leave them out, or use "
            "LeastSquaresAUC.fit_stream."
        )
    return X, y
