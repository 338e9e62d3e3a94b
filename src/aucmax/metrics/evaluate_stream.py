# SPDX-License-Identifier: BSD-3-Clause
"""Test on every batch of a stream, then train on it."""

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._utils.checkpoint import (
    Checkpoint,
    State,
    check_checkpoint,
    describe_fit,
    fingerprint,
    restore_into,
    resume_batches,
)
from aucmax._utils.validation import split_labels
from aucmax.metrics._inputs import as_vector
from aucmax.metrics.auc import roc_auc
from aucmax.metrics.prequential import PrequentialAUC

Score: TypeAlias = Callable[[Any, Any], ArrayLike]


class StreamRecord(NamedTuple):
    """What is known of a stream after one of its batches.

    Attributes
    ----------
    n_rows : int
        Rows so far, with those of the first batch, on which a new model is not tested.
    n_pos : int
        Positives among them.
    auc : float
        Of the window that ends here, each row scored before it was learned; NaN while
        the window holds one class only.
    auc_batch : float
        Of this batch alone, scored by one model; NaN if it holds one class only.
    """

    n_rows: int
    n_pos: int
    auc: float
    auc_batch: float


def evaluate_stream(
    model: Any,
    batches: Iterable[tuple[Any, ArrayLike]],
    *,
    classes: ArrayLike | None = None,
    window: int | None = 1000,
    fading: float | None = None,
    score: Score | None = None,
    checkpoint: Checkpoint | None = None,
) -> Iterator[StreamRecord]:
    """Score each batch, then learn from it, and yield the AUC over time.

    Every row is a test row before it is a training row, so the AUC is out of sample
    without setting rows aside. Nothing is read ahead and no batch is kept: the stream
    may be endless.

    Parameters
    ----------
    model : classifier with ``partial_fit``
        One of the online estimators, or any of scikit-learn's that has
        ``decision_function`` or ``predict_proba``. It is trained in place. If new, it
        only learns from the first batch.
    batches : iterable of (X, y)
        Rows and labels in the order they came, in batches of any sizes; a batch may
        hold one class only.
    classes : array-like of shape (2,), default=None
        All labels there will be, needed by a new model whose first batch holds only one
        of them. The larger is positive, as in scikit-learn.
    window : int, default=1000
        How many rows count in ``auc``; None for all. See :class:`PrequentialAUC`, also
        on comparing scores of different times.
    fading : float, default=None
        Let old rows fade instead, with ``window=None``.
    score : callable, default=None
        ``score(model, X)`` returns one score per row. None takes ``decision_function``
        or else the probability of the positive class. A moving intercept spoils the
        comparison of scores of different times, and that of aucmax's models, which is
        set on a sample of all rows so far, moves when the stream changes: ``lambda
        model, X: X @ model.coef_[0]`` leaves it out.
    checkpoint : Checkpoints, default=None
        Where to keep model and window after each batch, and to go on from; see
        :class:`aucmax.io.Checkpoints`. The batches must then be those of the first
        time; the ones already learned are passed over, without records.

    Yields
    ------
    record : StreamRecord
        One per batch: ``n_rows`` and ``n_pos`` so far, ``auc`` and ``auc_batch``.

    See Also
    --------
    aucmax.plots.StreamDisplay : Plot the records.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.utils import gen_batches
    >>> from aucmax.metrics import evaluate_stream
    >>> X, y = make_classification(3000, random_state=0)
    >>> batches = ((X[rows], y[rows]) for rows in gen_batches(3000, 1000))
    >>> for record in evaluate_stream(SGDClassifier(random_state=0), batches):
    ...     print(record.n_rows, round(record.auc, 2))
    1000 nan
    2000 0.93
    3000 0.89
    """
    if not hasattr(model, "partial_fit"):
        raise TypeError(
            f"{model} has no partial_fit, so it cannot follow a stream. Pass an online "
            "estimator, such as OPAUC() or SGDClassifier()."
        )
    if score is None:
        score = _choose_score(model)
    open_metric = functools.partial(PrequentialAUC, window=window, fading=fading)
    open_metric()  # to complain of its settings now, not with the first batch
    saved = None
    if checkpoint is not None:
        check_checkpoint(checkpoint)
        past = {"window": window, "fading": fading}
        saved = checkpoint.resume({"evaluate_stream": past, **describe_fit(model)})
    known = getattr(model if saved is None else saved["model"], "classes_", None)
    if classes is not None:
        given = split_labels(classes, name="evaluate_stream")[0]
        if known is not None and not np.array_equal(given, known):
            raise ValueError(
                f"classes={given.tolist()}, but the model was fitted with "
                f"{np.asarray(known).tolist()}. Leave it out, or pass a new model."
            )
        known = given
    return _run(model, score, batches, known, open_metric, checkpoint, saved)


def _run(
    model: Any,
    score: Score,
    batches: Iterable[tuple[Any, ArrayLike]],
    classes: NDArray[Any] | None,
    open_metric: Callable[..., PrequentialAUC],
    checkpoint: Checkpoint | None,
    saved: State | None,
) -> Iterator[StreamRecord]:
    """Yield a record per batch; errors get a note that says which batch it was."""
    metric: PrequentialAUC | None = None
    n_rows, n_pos, n_done, first = 0, 0, 0, ""
    if saved is not None:
        metric, n_done, first = saved["metric"], saved["n_batches"], saved["first"]
        n_rows, n_pos = saved["n_rows"], saved["n_pos"]
    batches = resume_batches(batches, n_done, first)
    if saved is not None:
        restore_into(model, saved["model"])
    for number, batch in enumerate(batches, start=n_done + 1):
        try:
            X, y = _unpack(batch)
            if number == 1 and checkpoint is not None:
                first = fingerprint(X, y)
            auc = auc_batch = np.nan
            is_new = not hasattr(model, "classes_")
            if is_new:
                if classes is None:
                    classes = _classes_of_first(y)
                model.partial_fit(X, y, classes=classes)
            # The model may have its own form of the labels, such as strings of objects.
            metric = metric or open_metric(classes=_two(model.classes_))
            is_pos = y == metric.classes[1]
            if not is_new:
                scores = score(model, X)
                metric.update(y, scores)
                auc = _read(metric)
                if 0 < np.count_nonzero(is_pos) < len(is_pos):
                    auc_batch = roc_auc(is_pos, scores)
                model.partial_fit(X, y)
        except Exception as error:  # of any kind: it goes on, and says where it was
            error.add_note(f"This was in batch {number} of the stream.")
            raise
        n_rows += len(is_pos)
        n_pos += int(np.count_nonzero(is_pos))
        yield StreamRecord(n_rows, n_pos, auc, auc_batch)
        if checkpoint is not None:
            # Only now: a record may come twice, but none is lost.
            state = {
                "model": model,
                "metric": metric,
                "n_batches": number,
                "n_rows": n_rows,
                "n_pos": n_pos,
                "first": first,
            }
            checkpoint.offer(state.copy)


def _choose_score(model: Any) -> Score:
    """Return what gives one score per row."""
    if hasattr(model, "decision_function"):
        return lambda model, X: np.asarray(model.decision_function(X))
    if hasattr(model, "predict_proba"):
        return lambda model, X: np.asarray(model.predict_proba(X))[:, 1]
    raise TypeError(
        f"{type(model).__name__} has neither decision_function nor predict_proba, so "
        "there are no scores to compare. Pass score=, or another classifier."
    )


def _classes_of_first(y: NDArray[Any]) -> NDArray[Any]:
    """Return the two labels in the first batch."""
    if len(y) and (y == y[0]).all():
        raise ValueError(
            f"The first batch holds only one class, {y.tolist()[0]!r}. Pass classes=, "
            "the two labels there will be."
        )
    return split_labels(y, name="The first batch")[0]


def _unpack(batch: Any) -> tuple[Any, NDArray[Any]]:
    try:
        X, y = batch
    except (TypeError, ValueError):
        raise ValueError(
            f"A batch must be a pair (X, y), got {type(batch).__name__}. Zip rows and "
            "labels together."
        ) from None
    return X, as_vector(y, name="y")


def _two(classes: Any) -> tuple[Any, Any]:
    """Return the negative and the positive label."""
    labels = np.asarray(classes).tolist()
    if len(labels) != 2:
        raise ValueError(
            f"The model knows {len(labels)} classes, {labels}, but the AUC compares "
            "two. Pass a model of two classes."
        )
    return labels[0], labels[1]


def _read(metric: PrequentialAUC) -> float:
    if metric.mass_pos > 0 and metric.mass_neg > 0:
        return metric.auc
    return np.nan
