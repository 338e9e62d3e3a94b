# SPDX-License-Identifier: BSD-3-Clause
"""Learning from batches one after the other, with a place to go on from."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._utils.checkpoint import (
    Checkpoint,
    State,
    check_checkpoint,
    describe_fit,
    fingerprint,
    go_on,
    take_over,
)
from aucmax._utils.progress import report
from aucmax.estimators._source import Source, name_features

# Batches between two lines of progress.
REPORT_EVERY = 10


def learn_in_order(
    model: Any,
    source: Source,
    classes: ArrayLike | None,
    checkpoint: Checkpoint | None,
) -> None:
    """Learn all batches, as many times as there are passes, or those that are left."""
    try:
        learn = model.partial_fit
    except AttributeError as error:
        # What a model lacks with its parameters, it explains in the cause.
        raise ValueError(str(error.__cause__ or error)) from error
    n_passes = getattr(model, "n_passes", 1)
    if n_passes > 1 and isinstance(source, Iterator):
        raise TypeError(
            f"n_passes={n_passes} reads the batches several times, but a "
            f"{type(source).__name__} can be read only once. Pass a list, or what "
            "aucmax.io.read_batches returns."
        )
    first_pass, n_done, first = 0, 0, ""
    if checkpoint is not None:
        check_checkpoint(checkpoint)
        saved = checkpoint.resume(describe_fit(model))
        if saved is not None:
            take_over(model, saved["model"])
            first_pass, n_done = saved["n_passed"], saved["n_batches"]
            first = saved["first"]
    for n_passed in range(first_pass, n_passes):
        batches = go_on(source, n_done, first)
        for number, batch in enumerate(batches, start=n_done + 1):
            try:
                X, y = _unpack(batch)
                if number == 1 and checkpoint is not None:
                    first = fingerprint(X, y)
                if np.shape(X)[:1] != (0,):
                    learn(X, y, classes=classes)
            except Exception as error:  # of any kind: it goes on, and says where
                error.add_note(f"This was in batch {number} of the source.")
                raise
            if checkpoint is not None:
                checkpoint.offer(partial(_state, model, n_passed, number, first))
            if getattr(model, "verbose", 0) and number % REPORT_EVERY == 0:
                report(
                    f"[{type(model).__name__}] pass {n_passed + 1} of {n_passes}  "
                    f"batch {number}  rows {model.n_samples_seen_}"
                )
        n_done = 0
    name_features(model, source)
    if not hasattr(model, "classes_"):
        raise ValueError(
            "The source gave no rows. Check that it is not used up, and that its files "
            "are not empty."
        )


def _unpack(batch: Any) -> tuple[Any, Any]:
    if isinstance(batch, tuple) and len(batch) == 2:
        return batch
    if isinstance(batch, tuple) and len(batch) == 3:
        raise ValueError(
            "A batch has weights, but online estimators take none: several steps are "
            "not one step with a weight. Leave them out, or use "
            "LeastSquaresAUC.fit_stream."
        )
    raise ValueError(
        f"A batch must be (X, y), but this one is a {type(batch).__name__}. Zip rows "
        "and labels together."
    )


def _state(model: Any, n_passed: int, n_batches: int, first: str) -> State:
    return {
        "model": model,
        "n_passed": n_passed,
        "n_batches": n_batches,
        "first": first,
    }
