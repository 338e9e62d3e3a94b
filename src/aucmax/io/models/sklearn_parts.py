# SPDX-License-Identifier: BSD-3-Clause
"""Estimators of scikit-learn from a file whose compiled code trusts what they hold."""

import functools
import sys
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

FUNCTION = ("sklearn.preprocessing._function_transformer", "FunctionTransformer")


def is_instance(part: Any, module: str, name: str) -> bool:
    """Say whether a part is of a type, without importing it: else there is none."""
    found = sys.modules.get(module)
    return found is not None and isinstance(part, getattr(found, name))


def check_plain(part: Any) -> None:
    """Raise if a part would call what a file put into it, or write files.

    An attribute that hides a method, or a function that comes with arguments, could
    change what was checked.
    """
    held, kind = getattr(part, "__dict__", {}), type(part)
    if kind.__module__.startswith(("aucmax.", "scipy.", "sklearn.")):
        for name in held:
            if callable(getattr(kind, name, None)) or name.startswith("__"):
                raise ValueError(f"{kind.__name__}.{name} replaces a method")
        if not isinstance(held.get("n_features_in_", 0), int | np.integer):
            raise ValueError("n_features_in_ is no number")
        if isinstance(held.get("memory"), str):
            raise ValueError("a pipeline has a folder as memory: set it to None")
        if hasattr(kind, "_parameter_constraints"):
            kind._validate_params(part)
    if kind is functools.partial:
        is_check = part.func is check_array and not part.args
        is_ours = part.func.__module__.startswith("aucmax.")
        if not is_ours and (not is_check or "array" in part.keywords):
            raise ValueError("a function comes with arguments of the file")
    if is_instance(part, *FUNCTION) and isinstance(part.func, np.ufunc):
        if part.kw_args or part.inv_kw_args:
            raise ValueError("a function comes with arguments of the file")
    elif any(isinstance(value, np.ufunc) for value in held.values()):
        raise ValueError(f"{kind.__name__} holds a function")


def check_svm(part: Any) -> None:
    """Raise unless the support vectors of an SVM are as many as its coefficients.

    libsvm takes all sizes from the number of classes and of vectors.
    """
    is_svc = is_instance(part, "sklearn.svm._base", "BaseSVC")
    if not is_svc or not hasattr(part, "_n_support"):
        return
    vectors, coef, places = part.support_vectors_, part._dual_coef_, part.support_
    n_vectors, n_features = vectors.shape
    is_given = part.kernel == "precomputed"
    is_plain = isinstance(part.kernel, str) and "_impl" not in vars(part)
    if not is_plain or (is_given and part._sparse):
        raise ValueError("an SVM has a kernel of its own")
    if is_given:
        # It keeps no vectors; rows have a value for each row it was fitted to.
        n_vectors, n_features = len(places), part.shape_fit_[0]
    n_classes = len(part._n_support)
    n_pairs = n_classes * (n_classes - 1) // 2
    if (
        n_classes < 2
        or n_classes != len(part.classes_)
        or (part._n_support < 0).any()
        or part._n_support.sum() != n_vectors
        or coef.shape != (n_classes - 1, n_vectors)
        # Of sparse ones, all must be there.
        or coef.size != coef.shape[0] * n_vectors
        or {sparse.issparse(vectors), sparse.issparse(coef)} != {part._sparse}
        or part._intercept_.shape != (n_pairs,)
        or {len(part._probA), len(part._probB)} not in ({0}, {n_pairs})
        or not n_features == part.n_features_in_ == part.shape_fit_[1]
        or places.shape != (n_vectors,)
        or (n_vectors and not 0 <= places.min() <= places.max() < part.shape_fit_[0])
    ):
        raise ValueError("an SVM has sizes that do not fit together")


def check_encoder(part: Any) -> None:
    """Raise unless a one-hot encoder leads all categories to columns that there are.

    It makes sparse rows of them, which SciPy multiplies without looking.
    """
    is_encoder = is_instance(part, "sklearn.preprocessing._encoders", "OneHotEncoder")
    if not is_encoder or not hasattr(part, "_n_features_outs"):
        return
    own = list(part._n_features_outs)
    n_features = len(part.categories_)
    dropped = part._drop_idx_after_grouping
    if dropped is None:
        dropped = [None] * n_features
    mappings = [None] * n_features
    if part._infrequent_enabled:
        mappings = part._default_to_infrequent_mappings
    is_right = own == list(part._compute_n_features_outs()) and len(own) == n_features
    for width, drop, mapping in zip(own, dropped, mappings, strict=True):
        width += drop is not None
        is_right &= drop is None or 0 <= drop < width
        is_right &= mapping is None or 0 <= mapping.min() <= mapping.max() < width
    if not is_right:
        raise ValueError("an encoder has other columns than categories")


def check_vocabulary(part: Any) -> None:
    """Raise unless the words of a vectorizer are numbered from 0 on."""
    words = getattr(part, "__dict__", {}).get("vocabulary_")
    if words is not None and type(words) is not dict:
        raise ValueError("a vocabulary is no dict")
    if words is not None and sorted(words.values()) != list(range(len(words))):
        raise ValueError("a vocabulary has words without a column")
