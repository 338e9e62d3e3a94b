# SPDX-License-Identifier: BSD-3-Clause
"""A page about a model, for people."""

import html
import inspect
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._utils.typing import is_sparse
from aucmax.io.models.description import (
    changed_parameters,
    short_repr,
    type_name,
    versions,
)
from aucmax.metrics.delong import roc_auc_interval

LEVEL = 0.95
# Names of features shown.
N_NAMES = 12
# What estimators call the one inside: after a search, then before.
INSIDE = ("best_estimator_", "estimator")
# Parameters that hold estimators, which are short_repr of one by one.
HOLDERS = ("estimator", "steps", "transformers")
USE = """\
```python
from aucmax.io import load

model = load({file})
scores = model.{call}
```"""


def model_card(
    model: Any,
    *,
    X: Any = None,
    y: ArrayLike | None = None,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    title: str | None = None,
    notes: str | None = None,
    file: str = "model.skops",
) -> str:
    """Describe a model in Markdown: what it is, its data, its AUC, how to use it.

    Parameters
    ----------
    model : estimator
        A model, or a pipeline or search that has one; fitted if there are test data.
    X, y : array-like, sparse matrix or data frame, default=None
        The training data, to be summed up.
    X_test, y_test : array-like, sparse matrix or data frame, default=None
        Rows the model has not seen, for the AUC and its interval.
    title : str, default=None
        The heading, as plain text; None: the name of the model's class.
    notes : str, default=None
        Markdown of your own: what the model is for, and what not. It is taken as it
        is, with all HTML in it.
    file : str, default="model.skops"
        The file that the model is saved in, for those who load it.

    Returns
    -------
    card : str
        The page, the same for the same arguments and versions; it has no date.

    Raises
    ------
    ValueError
        If rows come without labels or the other way round, if their numbers differ, or
        the model does not know a label.

    See Also
    --------
    save : The model itself.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import RankSVM
    >>> from aucmax.io import model_card
    >>> X, y = make_classification(400, weights=[0.9], random_state=0)
    >>> model = RankSVM(alpha=0.1).fit(X[:200], y[:200])
    >>> card = model_card(model, X=X[:200], y=y[:200], X_test=X[200:], y_test=y[200:])
    >>> print(card[card.index("## Training") : card.index("## Use")])
    ## Training data
    <BLANKLINE>
    - Rows: 200
    - Features: 20
    - Classes: `0`, `1`
    - Positives (`1`): 19 (9.5%)
    - Missing values: none
    <BLANKLINE>
    ## Test
    <BLANKLINE>
    - AUC: 0.804
    - 95% interval (DeLong): 0.688 to 0.921
    - Rows: 200
    - Positives (`1`): 22 (11%)
    <BLANKLINE>
    <BLANKLINE>
    """
    _check_pair("X", X, "y", y)
    _check_pair("X_test", X_test, "y_test", y_test)
    name = type(_innermost(model)).__name__
    sections = [
        f"# {escape_markdown(' '.join(title.split()) if title else name)}",
        notes,
        *_model(model),
        *_training(model, X, y),
        *_test(model, X_test, y_test),
        *_use(model, file),
        "## Versions",
        _list(f"{name}: {version}" for name, version in versions().items()),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def escape_markdown(text: str) -> str:
    r"""Return text that means itself in Markdown, with no HTML, link or emphasis.

    Examples
    --------
    >>> from aucmax.io.models.card import escape_markdown
    >>> escape_markdown("<b>loans_1</b> [x](y)")
    '&lt;b&gt;loans_1&lt;/b&gt; \\[x\\](y)'
    """
    # Within a word, or at its end, an underscore begins no emphasis.
    marks = r"[\\`*\[\]]|(?<![^\W_])_"
    return re.sub(marks, r"\\\g<0>", html.escape(text, quote=False))


def _code(text: str) -> str:
    """Return text as code in Markdown, whatever is in it."""
    text = " ".join(text.split())
    if "`" not in text:
        return f"`{text}`"
    fence = "`" * (1 + max(map(len, re.findall("`+", text))))
    return f"{fence} {text} {fence}"


def _model(model: Any) -> Iterator[str]:
    yield "## Model"
    yield _first_sentence(_innermost(model))
    yield _list(_parts(model, ""))


def _parts(estimator: Any, name: str) -> Iterator[str]:
    """Tell of an estimator and of all that are inside it."""
    label = f"{escape_markdown(name)}: " if name else ""
    yield f"{label}`{type(estimator).__name__}`: {_settings(estimator)}"
    for each, part in _inside(estimator):
        yield from _parts(part, f"{name}.{each}".lstrip("."))


def _inside(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Yield the estimators inside, with their names."""
    steps = [*getattr(estimator, "steps", ()), *getattr(estimator, "transformers", ())]
    single = [(each, getattr(estimator, each, None)) for each in INSIDE]
    single = [(each, part) for each, part in single if part is not None][:1]
    for name, part, *_ in steps + single:
        # Steps can also be "passthrough" or "drop".
        if hasattr(part, "get_params"):
            yield name, part


def _innermost(model: Any) -> Any:
    """Return the estimator that gives the scores."""
    parts = [part for _, part in _inside(model)]
    has_model = parts and not hasattr(model, "transformers")
    return _innermost(parts[-1]) if has_model else model


def _first_sentence(model: Any) -> str:
    text = (inspect.getdoc(type(model)) or "").partition("\n\n")[0]
    return " ".join(text.split())


def _settings(estimator: Any) -> str:
    """Return the parameters that were set, other than estimators inside."""
    changed = [
        _code(f"{name}={short_repr(value)}")
        for name, value in changed_parameters(estimator).items()
        if name not in HOLDERS
    ]
    return ", ".join(changed) or "default parameters"


def _training(model: Any, X: Any, y: Any) -> Iterator[str]:
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if X is not None:
        lines = _summary(X, y, _classes(model, y))
    elif hasattr(model, "n_features_in_"):
        lines = [f"Features: {model.n_features_in_}"]
    else:
        return
    if names:
        more = f" and {len(names) - N_NAMES} more" if len(names) > N_NAMES else ""
        shown = ", ".join(map(_code, names[:N_NAMES]))
        lines.append(f"Names: {shown}{more}")
    yield "## Training data"
    yield _list(lines)


def _summary(X: Any, y: Any, classes: NDArray[Any]) -> list[str]:
    X = X if hasattr(X, "shape") else np.asarray(X)
    n_missing, n_values = _n_missing(X), X.shape[0] * X.shape[1]
    missing = f"{n_missing} ({_percent(n_missing, n_values)})" if n_missing else "none"
    return [
        f"Rows: {X.shape[0]}",
        f"Features: {X.shape[1]}",
        f"Classes: {', '.join(_code(short_repr(each)) for each in classes.tolist())}",
        _positives(np.asarray(y), classes),
        f"Missing values: {missing}",
    ]


def _positives(labels: NDArray[Any], classes: NDArray[Any]) -> str:
    n_pos = int(np.count_nonzero(labels == classes[-1]))
    share = _percent(n_pos, len(labels))
    return f"Positives ({_code(short_repr(classes.tolist()[-1]))}): {n_pos} ({share})"


def _n_missing(X: Any) -> int:
    """Count missing values in an array, a sparse matrix or a data frame."""
    if is_sparse(X):
        return int(np.isnan(X.data).sum())
    if hasattr(X, "isna"):
        return int(np.asarray(X.isna()).sum())
    values = np.asarray(X)
    if values.dtype.kind == "f":
        return int(np.isnan(values).sum())
    if values.dtype.kind != "O":
        return 0
    # NaN is not equal to itself.
    return sum(value is None or value != value for value in values.ravel())


def _test(model: Any, X: Any, y: Any) -> Iterator[str]:
    if X is None:
        return
    labels = np.asarray(y)
    classes = _classes(model, labels)
    found = roc_auc_interval(labels == classes[-1], _scores(model, X), level=LEVEL)
    yield "## Test"
    yield _list(
        [
            f"AUC: {found.auc:.3f}",
            f"{LEVEL:.0%} interval (DeLong): {found.low:.3f} to {found.high:.3f}",
            f"Rows: {len(labels)}",
            _positives(labels, classes),
        ]
    )


def _classes(model: Any, y: Any) -> NDArray[Any]:
    """Return the classes, the positive one last; raise if y has labels of others."""
    found = np.unique(np.asarray(y))
    classes = np.asarray(getattr(model, "classes_", found))
    unknown = [label for label in found.tolist() if label not in classes.tolist()]
    if unknown:
        raise ValueError(
            f"The labels hold {short_repr(unknown[0])}, and the model was fitted on "
            f"{short_repr(classes.tolist())}. Pass labels of these classes."
        )
    return classes


def _scores(model: Any, X: Any) -> NDArray[Any]:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    return np.asarray(model.predict_proba(X))[:, -1]


def _use(model: Any, file: str) -> Iterator[str]:
    if hasattr(model, "decision_function"):
        call = "decision_function(X)"
    elif hasattr(model, "predict_proba"):
        call = "predict_proba(X)[:, -1]"
    else:
        return
    yield "## Use"
    name = type_name(model)
    article = "an" if name[0].lower() in "aeiou" else "a"
    yield (
        f"For {article} `{name}` saved by `aucmax.io.save`. `X` has the features "
        "above, in that order; a higher score means more likely positive."
    )
    yield USE.format(call=call, file=json.dumps(file, ensure_ascii=False))


def _check_pair(name_X: str, X: Any, name_y: str, y: Any) -> None:
    if X is None and y is None:
        return
    if X is None or y is None:
        given, absent = (name_X, name_y) if y is None else (name_y, name_X)
        raise ValueError(f"{given} was given without {absent}. Pass both, or neither.")
    n_rows, n_labels = X.shape[0] if hasattr(X, "shape") else len(X), len(np.asarray(y))
    if n_rows != n_labels:
        raise ValueError(
            f"{name_X} has {n_rows} rows and {name_y} has {n_labels}. Pass one label "
            "for each row."
        )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.3g}%"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {' '.join(line.split())}" for line in lines)
