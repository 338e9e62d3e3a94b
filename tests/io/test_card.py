# SPDX-License-Identifier: BSD-3-Clause
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import aucmax
from aucmax import KNNOAM, LeastSquaresAUC, Nystroem, OnlinePCA, RankSVM
from aucmax.io import model_card, save
from aucmax.metrics import roc_auc_interval

X, Y = make_classification(300, 6, weights=[0.8], random_state=0)
FRAME = pd.DataFrame(X).add_prefix("x")


def section(card, name):
    return card.partition(f"## {name}\n\n")[2].partition("\n\n## ")[0]


def lines(card, name):
    return section(card, name).splitlines()


def test_names_are_no_markup():
    bad = "<img src=x> `<b>` [a](b)\n\n# c"
    frame = FRAME.rename(columns={"x0": bad})
    labels = np.where(Y, "y`<i>`", "n")
    model = make_pipeline(StandardScaler(), RankSVM()).fit(frame, labels)
    model.steps[0] = ("<u>", model.steps[0][1])
    card = model_card(model, X=frame, y=labels, title=bad)
    assert card.startswith(
        "# &lt;img src=x&gt; \\`&lt;b&gt;\\` \\[a\\](b) # c\n\n## Model"
    )
    assert "- &lt;u&gt;: `StandardScaler`" in card
    # Between two backticks, one means itself.
    names = "- Names: `` <img src=x> `<b>` [a](b) # c ``, `x1`"
    assert any(line.startswith(names) for line in lines(card, "Training data"))
    assert "- Classes: `'n'`, `` 'y`<i>`' ``" in card


def test_all_of_a_card():
    model = RankSVM(alpha=0.25).fit(X[:200], Y[:200])
    parts = {"X": X[:200], "y": Y[:200], "X_test": X[200:], "y_test": Y[200:]}
    card = model_card(model, **parts, title="Loans", notes="Not for *people*.")
    assert card.startswith("# Loans\n\nNot for *people*.\n\n## Model\n\n")
    assert re.findall(r"^## (.*)", card, re.MULTILINE) == [
        "Model",
        "Training data",
        "Test",
        "Use",
        "Versions",
    ]
    assert card.endswith("\n")
    assert not card.endswith("\n\n")
    assert "\n\n\n" not in card
    assert lines(card, "Model")[-1] == "- `RankSVM`: `alpha=0.25`"
    n_pos = int(Y[:200].sum())
    assert lines(card, "Training data") == [
        "- Rows: 200",
        "- Features: 6",
        "- Classes: `0`, `1`",
        f"- Positives (`1`): {n_pos} ({n_pos / 2:.3g}%)",
        "- Missing values: none",
    ]
    found = roc_auc_interval(Y[200:], model.decision_function(X[200:]))
    assert lines(card, "Test")[:2] == [
        f"- AUC: {found.auc:.3f}",
        f"- 95% interval (DeLong): {found.low:.3f} to {found.high:.3f}",
    ]
    assert f"- aucmax: {aucmax.__version__}" in lines(card, "Versions")


def test_without_data():
    card = model_card(LeastSquaresAUC())
    assert card.startswith("# LeastSquaresAUC\n")
    assert "Training" not in card
    assert "Test" not in card
    assert "`LeastSquaresAUC`: default parameters" in card
    card = model_card(LeastSquaresAUC().fit(FRAME, Y))
    assert lines(card, "Training data")[0] == "- Features: 6"
    assert "`x0`, `x1`" in lines(card, "Training data")[1]


def test_names_of_many_features_are_cut():
    wide = pd.DataFrame(np.tile(X, 4)).add_prefix("x")
    names = lines(model_card(LeastSquaresAUC().fit(wide, Y)), "Training data")[-1]
    assert names.endswith("`x10`, `x11` and 12 more")


def test_parts_of_a_pipeline():
    frame = FRAME.assign(town=np.where(X[:, 0] > 0, "Graz", "Linz"))
    columns = make_column_transformer(
        (StandardScaler(with_mean=False), ["x0", "x1"]),
        (OneHotEncoder(), ["town"]),
        ("passthrough", ["x2"]),
    )
    model = make_pipeline(columns, FunctionTransformer(np.log1p), RankSVM(alpha=0.5))
    card = model_card(model)
    assert card.startswith("# RankSVM\n")
    assert lines(card, "Model")[2:] == [
        "- `Pipeline`: default parameters",
        "- columntransformer: `ColumnTransformer`: default parameters",
        "- columntransformer.standardscaler: `StandardScaler`: `with_mean=False`",
        "- columntransformer.onehotencoder: `OneHotEncoder`: default parameters",
        "- functiontransformer: `FunctionTransformer`: `func=log1p`",
        "- ranksvm: `RankSVM`: `alpha=0.5`",
    ]
    search = GridSearchCV(
        make_pipeline(columns, RankSVM()), {"ranksvm__alpha": [0.125]}, cv=2
    )
    card = model_card(search.fit(frame, Y), X_test=frame, y_test=Y)
    assert card.startswith("# RankSVM\n")
    # What was found, not what was given.
    assert "- best_estimator_.ranksvm: `RankSVM`: `alpha=0.125`" in card
    assert "AUC: " in card


def test_parameters_in_words():
    landmarks = np.zeros((4, 6))
    rng = np.random.RandomState(0)
    model = Nystroem(landmarks=landmarks, random_state=rng)
    text = lines(model_card(model), "Model")[-1]
    assert "`landmarks=array of shape (4, 6)`" in text
    assert "`random_state=RandomState`" in text
    text = lines(model_card(KNNOAM(reduce=OnlinePCA(3))), "Model")[-1]
    assert text == "- `KNNOAM`: `reduce=OnlinePCA(n_components=3)`"


class Odd:
    """Shows where it is in memory."""


def test_same_in_every_call():
    def card():
        model = KNNOAM(reduce=Odd(), k=Odd())
        return model_card(model, X=X, y=Y)

    assert card() == card()
    assert "0x" not in card()


@pytest.mark.parametrize("labels", [["bad", "good"], [-1, 1], [False, True]])
def test_labels_of_every_kind(labels):
    y = np.array(labels)[Y]
    for values in (y, y.astype(object), y.tolist(), pd.Series(y)):
        model = LeastSquaresAUC().fit(X, values)
        card = model_card(model, X=X, y=values, X_test=X, y_test=values)
        first, second = labels
        assert f"- Classes: `{first!r}`, `{second!r}`" in card
        assert f"- Positives (`{second!r}`): {Y.sum()} (" in card
        assert f"- AUC: {model.score(X, values):.3f}" in card


def with_gaps(make):
    values = X.copy()
    values[[0, 1, 5], [2, 2, 3]] = np.nan
    return make(values)


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        lambda values: values.tolist(),
        pd.DataFrame,
        lambda values: pl.DataFrame(values).fill_nan(None),
        sparse.csr_matrix,
        lambda values: np.where(np.isnan(values), None, values),
    ],
)
def test_missing_values_are_counted(make):
    card = model_card(RankSVM(), X=with_gaps(make), y=Y)
    assert "- Rows: 300\n- Features: 6\n" in card
    assert "- Missing values: 3 (0.167%)" in card


def test_missing_text_is_counted():
    frame = pd.DataFrame({"a": ["x", None, "y"], "b": [1.0, 2.0, np.nan]})
    card = model_card(RankSVM(), X=frame, y=[0, 1, 1])
    assert "- Missing values: 2 (33.3%)" in card
    assert "- Positives (`1`): 2 (66.7%)" in card


def test_scores_are_probabilities_where_there_are_no_others():
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, Y)
    card = model_card(forest, X_test=X, y_test=Y)
    found = roc_auc_interval(Y, forest.predict_proba(X)[:, 1])
    assert f"- AUC: {found.auc:.3f}" in card
    assert "scores = model.predict_proba(X)[:, -1]" in card


def test_transformer_has_no_scores():
    assert "## Use" not in model_card(Nystroem())


def test_use_names_the_type_and_the_file():
    card = model_card(RankSVM().fit(X, Y), file="late.skops")
    assert "For an `aucmax.RankSVM` saved by" in card
    assert 'model = load("late.skops")' in card
    plain = model_card(make_pipeline(StandardScaler(), RankSVM()).fit(X, Y))
    assert "For a `sklearn.pipeline.Pipeline` saved by" in plain
    assert 'model = load("model.skops")' in plain


def test_code_of_the_card_runs(tmp_path):
    model = make_pipeline(StandardScaler(), RankSVM()).fit(X, Y)
    np.save(tmp_path / "X.npy", X)
    script = "import numpy as np\nX = np.load('X.npy')\n"
    for number, file in enumerate(["model.skops", 'a "b"\\c {}.skops']):
        save(model, tmp_path / file)
        card = model_card(model, file=file)
        (code,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
        script += f"{code}\nnp.save('scores{number}.npy', scores)\ndel scores, load\n"
    subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, check=True, timeout=300
    )
    for number in range(2):
        scores = np.load(tmp_path / f"scores{number}.npy")
        np.testing.assert_array_equal(scores, model.decision_function(X))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"X": X}, "X was given without y"),
        ({"y": Y}, "y was given without X"),
        ({"X_test": X}, "X_test was given without y_test"),
        ({"y_test": Y}, "y_test was given without X_test"),
        ({"X": X, "y": Y[:-1]}, "X has 300 rows and y has 299"),
        ({"X_test": X, "y_test": Y + 1}, r"labels hold 2, .* fitted on \[0, 1\]"),
        ({"X": X, "y": Y * 2}, r"labels hold 2, .* fitted on \[0, 1\]"),
    ],
)
def test_bad_arguments(options, expected):
    with pytest.raises(ValueError, match=expected):
        model_card(LeastSquaresAUC().fit(X, Y), **options)


def test_test_rows_need_a_fitted_model():
    with pytest.raises(NotFittedError):
        model_card(RankSVM(), X_test=X, y_test=Y)
