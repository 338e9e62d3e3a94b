# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import polars as pl
import pytest
from cli.loans import make_loans
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucmax import RankSVM
from aucmax.io import load, save
from aucmax.preparation import Preparation, features


def as_frame(prepare, X):
    Z = prepare.transform(X)
    Z = Z.toarray() if sparse.issparse(Z) else Z
    return pd.DataFrame(Z, columns=prepare.get_feature_names_out())


def loans(n=240):
    return make_loans(n).drop(columns=["id", "late"]).assign(empty=np.nan, one=3.0)


@parametrize_with_checks([Preparation(), Preparation(scale=False)])
def test_sklearn(estimator, check):
    check(estimator)


def by_hand(frame, *, scale):
    """What it makes of loans, by pandas and one line of arithmetic per column."""
    numbers = pd.DataFrame({"income": frame.income})
    numbers["since"] = (frame.since - pd.Timestamp(0)) / pd.Timedelta(days=1)
    numbers["one"] = frame.one
    expected = numbers
    if scale:
        whole = numbers.fillna(numbers.median())
        expected = (whole - whole.mean()) / whole.std(ddof=0).replace(0, 1)
        expected["missingindicator_income"] = frame.income.isna()
        expected["missingindicator_empty"] = True
    expected["owns"] = frame.owns
    expected["empty"] = 0.0
    towns = pd.get_dummies(frame.town, prefix="town")
    return expected.join(towns).assign(town_nan=frame.town.isna()).astype(float)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("to", [pd.DataFrame, pl.from_pandas])
def test_what_pandas_makes_by_hand(scale, to):
    frame = loans()
    found = as_frame(Preparation(scale=scale).fit(to(frame)), to(frame))
    expected = by_hand(frame, scale=scale)
    assert set(found.columns) == set(expected.columns)
    assert_allclose(found[expected.columns], expected, atol=1e-9)


def test_medians_scales_and_levels_are_those_of_fit():
    train, new = loans(200), loans(240)[200:]
    prepare = Preparation().fit(train)
    found = as_frame(prepare, new)
    whole = train.income.fillna(train.income.median())
    income = new.income.fillna(train.income.median())
    assert_allclose(found.income, (income - whole.mean()) / whole.std(ddof=0))
    # Row by row, in batches and all at once it is the same, bit for bit.
    rows = [as_frame(prepare, new[k : k + 1]) for k in range(len(new))]
    pd.testing.assert_frame_equal(pd.concat(rows, ignore_index=True), found)
    assert prepare.transform(new[:1]).shape == (1, found.shape[1])


def test_columns_that_were_not_in_fit_are_left_out():
    frame = loans()
    prepare = Preparation().fit(frame)
    more = make_loans().assign(empty=np.nan, one=3.0)
    pd.testing.assert_frame_equal(as_frame(prepare, more), as_frame(prepare, frame))
    with pytest.raises(ValueError, match=r"yet now missing:\n- one"):
        prepare.transform(more.drop(columns="one"))


@pytest.mark.parametrize("gaps", [True, False])
def test_unseen_levels_count_as_missing(gaps):
    train = pd.DataFrame({"town": ["Graz", "Linz", None if gaps else "Linz"] * 4})
    prepare = Preparation().fit(train)
    found = as_frame(prepare, pd.DataFrame({"town": ["Wien", None, "Graz"]}))
    assert found["town_Graz"].tolist() == [0, 0, 1]
    assert found["town_Linz"].tolist() == [0, 0, 0]
    if gaps:
        assert found["town_nan"].tolist() == [1, 1, 0]
    else:
        assert list(found) == ["town_Graz", "town_Linz"]


def test_rare_levels_share_a_feature(rng):
    once = pd.DataFrame({"a": ["x"] * 5 + ["y"] * 5 + ["u", "v"]})
    found = as_frame(Preparation().fit(once), once)
    assert list(found) == ["a_x", "a_y", "a_infrequent_sklearn"]
    assert found["a_infrequent_sklearn"].tolist() == [0] * 10 + [1, 1]
    # Of very many, the most frequent have their own, and all others one.
    many = pd.DataFrame({"a": [f"v{k:04}" for k in np.repeat(np.arange(300), 2)]})
    many.loc[580:, "a"] = "v0000"
    found = as_frame(Preparation(max_categories=50).fit(many), many)
    assert found.shape[1] == 50
    assert found["a_rare"].sum() == 2 * (290 - 49)
    assert_array_equal(found["a_v0000"], many["a"] == "v0000")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["yes", "no", None, " YES"], [1, 0, np.nan, 1]),
        (["True", "FALSE", None], [1, 0, np.nan]),
        (["t", "f"], [1, 0]),
        (["y", "n", "n"], [1, 0, 0]),
        (["on", "off"], [1, 0]),
        (["1,5", "-2", None, " 1.234,25", "3e2"], [1.5, -2, np.nan, 1234.25, 300]),
        (["1,234", "12,5"], [1.234, 12.5]),
    ],
)
def test_texts_that_are_numbers(texts, expected):
    for frame in (pd.DataFrame({"a": texts}), pl.DataFrame({"a": texts})):
        prepare = Preparation(scale=False).fit(frame)
        assert_array_equal(prepare.transform(frame)[:, 0], expected)
        assert list(prepare.get_feature_names_out()) == ["a"]


@pytest.mark.parametrize(
    "texts", [["yes", "no", "maybe"], ["t", "false"], ["1,234", "2,345"], ["1,5", "x"]]
)
def test_texts_that_are_none(texts):
    prepare = Preparation().fit(pd.DataFrame({"a": texts}))
    assert prepare.columns_.kinds == ["category"]


def test_what_was_learned_decides_how_new_values_are_read():
    frame = pd.DataFrame(
        {
            "flag": ["yes", "no"],
            "comma": ["1,5", "2,5"],
            "day": pd.to_datetime(["2020-01-01", "2020-01-02"]),
            "nothing": [None, None],
        }
    )
    prepare = Preparation(scale=False).fit(frame)
    first = prepare.transform(frame)
    new = pd.DataFrame(
        {"flag": [True, None], "comma": [1.5, 3.0], "day": None, "nothing": ["x", "y"]}
    )
    nan = np.nan
    assert_array_equal(prepare.transform(new)[:, :3], [[1, 1.5, nan], [nan, 3, nan]])
    as_text = frame.assign(
        flag=["unseen", "YES"], comma="1.000", day=["2020-01-01", "2020-01-02 12:00"]
    )
    expected = [[nan, 1000, first[0, 2]], [1, 1000, first[1, 2] + 0.5]]
    assert_array_equal(prepare.transform(as_text)[:, :3], expected)
    for name, value in [("comma", "1.5"), ("comma", "x"), ("day", 3), ("day", "x")]:
        message = f"Column '{name}' held .* in fit, but now holds '{value}' in row 0"
        with pytest.raises(ValueError, match=message):
            prepare.transform(frame.assign(**{name: value}))
    with pytest.raises(ValueError, match="'x' held numbers in fit"):
        Preparation().fit(pd.DataFrame({"x": [1.0]})).transform(
            pd.DataFrame({"x": ["many"]})
        )


def test_dates_with_zones_are_days_in_utc():
    days = ["1970-01-03", None, "2030-05-06 07:08:09.5"]
    naive = pd.to_datetime(pd.Series(days), format="ISO8601")
    zoned = naive.dt.tz_localize("Etc/GMT-2")
    frame = pd.DataFrame(
        {
            "naive": naive,
            "zoned": zoned,
            "objects": zoned.astype(object),
            "spell": naive - pd.Timestamp("1970-01-01"),
        }
    )
    last = (pd.Timestamp(days[2]) - pd.Timestamp(0)) / pd.Timedelta(days=1)
    early = 2 / 24
    expected = [
        [2.0, 2.0 - early, 2.0 - early, 2.0],
        [np.nan] * 4,
        [last, last - early, last - early, last],
    ]
    for each in (frame, pl.from_pandas(frame.drop(columns="objects"))):
        found = Preparation(scale=False).fit(each).transform(each)
        wanted = expected if found.shape[1] == 4 else np.delete(expected, 2, axis=1)
        assert_allclose(found, wanted, rtol=1e-15)


def test_arrays_of_both_precisions(rng):
    X = np.exp(rng.normal(size=(80, 3)))
    X[::9, 1] = np.nan
    whole = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    expected = np.column_stack(
        [StandardScaler().fit_transform(whole), np.isnan(X[:, 1])]
    )
    assert_allclose(Preparation().fit_transform(X), expected, atol=1e-12)
    narrow = Preparation().fit_transform(X.astype(np.float32))
    assert_allclose(narrow, expected, atol=1e-5)
    far = np.r_[X, [[1e300, 0, -1e300]]]
    assert np.abs(Preparation().fit(X).transform(far)).max() == features.LIMIT


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_stay_sparse(rng, make):
    X = make(np.where(rng.random((50, 6)) < 0.7, 0.0, rng.normal(size=(50, 6))))
    Z = Preparation().fit_transform(X)
    assert sparse.issparse(Z)
    assert_allclose(Z.toarray(), MaxAbsScaler().fit_transform(X).toarray())
    assert_array_equal(Preparation(scale=False).fit_transform(X).toarray(), X.toarray())
    assert Preparation().fit(X).get_feature_names_out().tolist()[:2] == ["x0", "x1"]


def test_tf_idf_raises_what_is_below_the_counts():
    X = sparse.csr_array([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0]])
    step = features.make_features(X, np.zeros(3, dtype=bool), scale="tf-idf").fit(X)
    low = sparse.csr_array([[0.5, 2.0, 0.0]])
    assert_array_equal(
        step.transform(low).toarray(),
        step.transform(sparse.csr_array([[1.0, 2.0, 0.0]])).toarray(),
    )
    assert low.data.min() == 0.5


@pytest.mark.parametrize("scale", [True, False])
def test_saved_and_loaded(tmp_path, scale):
    frame = loans().assign(flag="yes", comma="1,5")
    prepare = Preparation(scale=scale).fit(frame)
    save(prepare, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    pd.testing.assert_frame_equal(as_frame(loaded, frame), as_frame(prepare, frame))


def test_before_a_model(rng):
    frame = loans()
    y = make_loans(240).late == "yes"
    model = make_pipeline(Preparation(), RankSVM()).fit(frame, y)
    assert model.score(frame, y) > 0.75
    assert len(model[:-1].get_feature_names_out()) == model[-1].coef_.shape[1]
