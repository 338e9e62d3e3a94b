# SPDX-License-Identifier: BSD-3-Clause
"""Model files that claim too much, or whose parts lead compiled code astray."""

import copy
import functools
import io
import json
import zipfile
from collections import defaultdict

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_array

from aucmax import RankSVM
from aucmax.io import UntrustedModel, load, read_metadata, save
from aucmax.io.models.saving import write_model

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0.3).astype(int)
# Packs a thousand to one.
SPACES = b" " * 2**22


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.skops"
    save(RankSVM().fit(X, Y), path)
    return path


def parts_of(file):
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(file, parts, packing=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(file, "w", packing) as archive:
        for name, value in parts.items():
            archive.writestr(name, value)


def refuse(path, model, words):
    write_model(model, path)
    with pytest.raises(ValueError, match=rf"is damaged \({words}"):
        load(path)


# What a file claims


def test_text_that_unpacks_to_far_more_than_the_file(file):
    parts = parts_of(file)
    for name in ("aucmax.json", "schema.json"):
        write(file, parts | {name: parts[name] + SPACES})
        with pytest.raises(ValueError, match=rf"{file}.*{name} unpacks to more than"):
            read_metadata(file)
        with pytest.raises(ValueError, match=rf"{file}.*{name} unpacks to more than"):
            load(file)


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    damaged = RankSVM().fit(X, Y)
    damaged.coef_ = damaged.coef_[:, :1]
    with pytest.raises(ValueError, match="cannot be saved: RankSVM is damaged"):
        save(damaged, tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"aucmax\.json unpacks to more than"):
        save(RankSVM(), tmp_path / "model.skops", metadata={"a": SPACES.decode()})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packings_without_bound(file, packing):
    write(file, parts_of(file), packing)
    with pytest.raises(ValueError, match="packed in another way"):
        load(file)


def test_parts_that_overlap(file):
    array = io.BytesIO()
    np.save(array, X)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("0.npy", array.getvalue())
        for number in range(1, 20):
            again = copy.copy(archive.getinfo("0.npy"))
            again.filename = f"{number}.npy"
            archive.filelist.append(again)
    with pytest.raises(ValueError, match="its parts are larger than the file"):
        load(file)


def test_two_parts_of_one_name(file):
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        zipfile.ZipFile(file, "a") as archive,
    ):
        archive.writestr("schema.json", "{}")
    with pytest.raises(ValueError, match="two parts of one name"):
        load(file)


def test_archive_in_the_archive_that_is_packed_twice(tmp_path):
    path = tmp_path / "model.skops"
    model = make_pipeline(FunctionTransformer(kw_args={"a": sparse.csr_array(X)}))
    save(model, path)
    assert load(path)[0].kw_args["a"].nnz == X.size
    (name,) = (name for name in parts_of(path) if name.endswith(".npz"))
    zeros, inner = io.BytesIO(), io.BytesIO()
    np.save(zeros, np.zeros(2**19))
    # 32 MB in 33 kB, which pack to some hundred bytes.
    write(inner, {f"{k}.npy": zeros.getvalue() for k in range(8)})
    write(path, parts_of(path) | {name: inner.getvalue()})
    with pytest.raises(ValueError, match=r"npz is packed twice"):
        load(path)


def test_array_that_is_used_many_times(file):
    parts = parts_of(file)
    schema = json.loads(parts["schema.json"])
    content = schema["content"]["content"]
    again = content["coef_"] | {"__id__": 1}
    content["history_"] = content["history_"] | {"content": [again]}
    write(file, parts | {"schema.json": json.dumps(schema)})
    with pytest.raises(ValueError, match="is used for several arrays"):
        load(file)


def test_object_that_is_not_the_same_everywhere(file):
    parts = parts_of(file)
    schema = json.loads(parts["schema.json"])
    content = schema["content"]["content"]
    content["intercept_"] |= {"__id__": content["coef_"]["__id__"]}
    write(file, parts | {"schema.json": json.dumps(schema)})
    with pytest.raises(ValueError, match="two objects of the number"):
        load(file)


@pytest.mark.parametrize("n_outputs", ["10000000", "0", '"a"'])
def test_tree_with_outputs_that_it_has_not(tmp_path, n_outputs):
    path = tmp_path / "model.skops"
    save(DecisionTreeClassifier(max_depth=1).fit(X, Y), path)
    schema = json.loads(parts_of(path)["schema.json"])
    tree = schema["content"]["content"]["tree_"]
    tree["__reduce__"]["args"]["content"][2] |= {"content": n_outputs, "__id__": 1}
    write(path, parts_of(path) | {"schema.json": json.dumps(schema)})
    with pytest.raises(ValueError, match=r"a tree has (sizes|no whole)"):
        load(path)


@pytest.mark.parametrize("shape", [(), (1, 3), (0,)])
def test_tree_with_nodes_of_another_shape(tmp_path, shape):
    path = tmp_path / "model.skops"
    save(DecisionTreeClassifier(max_depth=1).fit(X, Y), path)
    parts = parts_of(path)
    tree = json.loads(parts["schema.json"])["content"]["content"]["tree_"]
    name = tree["content"]["content"]["nodes"]["file"]
    nodes, changed = np.load(io.BytesIO(parts[name])), io.BytesIO()
    np.save(changed, np.resize(nodes, shape))
    write(path, parts | {name: changed.getvalue()})
    with pytest.raises(ValueError, match="a tree has sizes that do not fit"):
        load(path)


@pytest.mark.parametrize("place", [-1, 625, 2**31 - 1])
def test_generator_that_draws_from_elsewhere(tmp_path, place):
    path = tmp_path / "model.skops"
    rng = np.random.RandomState(0)
    save(FunctionTransformer(kw_args={"rng": rng}), path)
    drawn = load(path).kw_args["rng"].random()
    assert drawn == np.random.RandomState(0).random()
    state = rng.get_state(legacy=False)
    state["state"]["pos"] = place
    rng.set_state(state)
    refuse(path, FunctionTransformer(kw_args={"rng": rng}), "a MT19937 generator")


# What is no plain array


def test_array_with_a_mask(tmp_path):
    masked = np.ma.MaskedArray([1.0, 2.0], mask=[True, False])
    model = FunctionTransformer(kw_args={"shift": masked})
    refuse(tmp_path / "model.skops", model, "it holds a MaskedArray")


@pytest.mark.parametrize("place", [-1, 3, 2**31 - 1])
def test_sparse_matrix_with_a_column_that_there_is_not(tmp_path, place):
    bad = sparse.csr_array(X)
    bad.indices[5] = place
    model = FunctionTransformer(kw_args={"rows": bad})
    refuse(tmp_path / "model.skops", model, "indices must be")


# Estimators of scikit-learn


@pytest.mark.parametrize("estimator", [KMeans(2, n_init=1), KNeighborsClassifier(3)])
def test_what_was_not_reviewed_is_asked_about(tmp_path, estimator):
    name = f"{type(estimator).__module__}.{type(estimator).__name__}"
    save(estimator.fit(X, Y), tmp_path / "model.skops")
    assert name in read_metadata(tmp_path / "model.skops")["needs_trust"]
    with pytest.raises(UntrustedModel) as caught:
        load(tmp_path / "model.skops")
    assert name in caught.value.types


def test_support_vectors(tmp_path):
    path = tmp_path / "model.skops"
    for rows in (X, sparse.csr_array(X)):
        fitted = SVC(gamma=1.0).fit(rows, Y)
        save(fitted, path)
        assert np.array_equal(load(path).predict(rows), fitted.predict(rows))
    fitted = SVC(kernel="precomputed").fit(X @ X.T, Y)
    save(fitted, path)
    assert np.array_equal(load(path).predict(X @ X.T), fitted.predict(X @ X.T))
    save(SVR().fit(X, Y), path)
    assert type(load(path, trusted=["sklearn.svm._classes.SVR"])) is SVR
    changes = {
        "_n_support": lambda a: a * 1000,
        "_dual_coef_": lambda a: a[:, :1],
        "_intercept_": lambda a: a[:0],
        "_probA": lambda a: np.zeros(1),
        "support_": lambda a: a + 10**6,
        "support_vectors_": lambda a: a[:, :1],
        "n_features_in_": lambda n: 1000,
    }
    for name, change in changes.items():
        model = SVC(gamma=1.0).fit(X, Y)
        setattr(model, name, change(getattr(model, name)))
        refuse(path, model, "an SVM has sizes")


def test_encoder_that_leads_beyond_its_columns(tmp_path):
    path = tmp_path / "model.skops"
    rows = np.array([["a"], ["b"], ["b"], ["c"], ["c"], ["c"]], dtype=object)
    for options in ({}, {"min_frequency": 2}, {"drop": "first"}):
        good = OneHotEncoder(**options).fit(rows)
        save(good, path)
        assert (load(path).transform(rows) != good.transform(rows)).nnz == 0
    more = OneHotEncoder().fit(rows)
    more._n_features_outs = [2]
    refuse(path, more, "an encoder has other columns")
    rare = OneHotEncoder(min_frequency=2).fit(rows)
    rare._default_to_infrequent_mappings[0][0] = 10**6
    refuse(path, rare, "an encoder has other columns")
    fewer = OneHotEncoder(drop="first").fit(rows)
    fewer._drop_idx_after_grouping[0] = 100
    refuse(path, fewer, "an encoder has other columns")


def test_vocabulary_that_leads_beyond_its_columns(tmp_path):
    path = tmp_path / "model.skops"
    words = CountVectorizer().fit(["one two", "two three"])
    save(words, path)
    assert load(path).vocabulary_ == words.vocabulary_
    words.vocabulary_["one"] = 10**8
    refuse(path, words, "a vocabulary has words without a column")


# What would be called, or change what was checked


def test_attribute_that_replaces_a_method(tmp_path):
    encoder = OneHotEncoder().fit(np.array([["a"], ["b"]]))
    encoder._compute_n_features_outs = np.log
    refuse(tmp_path / "model.skops", encoder, "OneHotEncoder._compute.* replaces a")


def test_number_that_equals_all_others(tmp_path):
    model = DecisionTreeClassifier(max_depth=1).fit(X, Y)
    model.n_features_in_ = np.ma.masked_array(3, mask=True)
    refuse(tmp_path / "model.skops", model, "n_features_in_ is no number")


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(np.log, kw_args={"out": np.zeros(3)}),
        FunctionTransformer(functools.partial(check_array, np.zeros((2, 2)))),
    ],
)
def test_function_with_arguments_of_the_file(tmp_path, step):
    refuse(tmp_path / "model.skops", step, "a function comes with arguments")


def test_pipeline_that_would_write_files(tmp_path):
    model = make_pipeline(RankSVM(), memory=str(tmp_path / "elsewhere")).fit(X, Y)
    refuse(tmp_path / "model.skops", model, "a pipeline has a folder as memory")


def test_support_vectors_with_other_kernels(tmp_path):
    for kernel in (np.add, "precomputed"):
        model = SVC(gamma=1.0).fit(sparse.csr_array(X), Y)
        model.kernel = kernel
        refuse(tmp_path / "model.skops", model, "an SVM has a kernel|SVC holds a")


def test_vocabulary_that_makes_up_columns(tmp_path):
    words = CountVectorizer().fit(["one two"])
    words.vocabulary_ = defaultdict(int, words.vocabulary_)
    write_model(words, tmp_path / "model.skops")
    with pytest.raises(UntrustedModel, match=r"collections\.defaultdict"):
        load(tmp_path / "model.skops")


@pytest.mark.parametrize("loader", ["LossNode", "ObjectNode", "ListNode"])
def test_type_of_numpy_that_is_made_in_another_way(file, loader):
    """The state of a dtype may say where in memory its fields are."""
    parts = parts_of(file)
    schema = json.loads(parts["schema.json"])
    none = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode"}
    schema["content"]["content"]["history_"] = {
        "__class__": "dtype",
        "__module__": "numpy",
        "__loader__": loader,
        "__reduce__": {"args": none | {"content": [], "__id__": 1}},
        "content": none | {"content": [], "__id__": 2},
        "__id__": 3,
    }
    write(file, parts | {"schema.json": json.dumps(schema)})
    with pytest.raises(ValueError, match=r"makes a numpy\.dtype in a way"):
        load(file)


def test_keys_that_are_made_by_a_function(file):
    parts = parts_of(file)
    schema = json.loads(parts["schema.json"])
    schema["content"]["key_types"]["content"][0] |= {
        "__loader__": "FunctionNode",
        "__id__": 1,
    }
    write(file, parts | {"schema.json": json.dumps(schema)})
    with pytest.raises(ValueError, match="the keys of a dict have no types"):
        load(file)


def test_integer_that_is_not_a_number_in_the_file(tmp_path):
    model = RankSVM().fit(X, Y)
    model.n_iter_ = np.int64(12345)
    file = tmp_path / "model.skops"
    save(model, file)
    parts = parts_of(file)
    name = next(k for k in parts if k.endswith(".npy") and is_number(parts[k], 12345))
    buffer = io.BytesIO()
    np.save(buffer, np.array(np.nan))
    parts[name] = buffer.getvalue()
    write(file, parts)
    with pytest.raises(ValueError, match=r"model.skops.*invalid value"):
        load(file)


def is_number(content, number):
    array = np.load(io.BytesIO(content))
    return array.shape == () and array == number
