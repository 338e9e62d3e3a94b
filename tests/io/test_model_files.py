# SPDX-License-Identifier: BSD-3-Clause
"""Model files that are damaged, hostile, new or in the way; and what they tell."""

import errno
import importlib
import json
import os
import pathlib
import pickle
import re
import shutil
import sys
import threading
import zipfile

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.neighbors import KDTree, KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import aucmax
from aucmax import NBAUC, OPAUC, LeastSquaresAUC, Nystroem
from aucmax.io import UntrustedModel, load, read_metadata, save, trusted_types
from aucmax.io.models.trusted import REASONS
from aucmax.neighbors import trees
from aucmax.summaries.low_rank import LowRankMoments

X = np.random.default_rng(0).normal(size=(40, 3))
Y = (X[:, 0] > 0.3).astype(int)


class Doubled(TransformerMixin, BaseEstimator):
    """A transformer that only this module knows."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return 2 * np.asarray(X)

    def __sklearn_is_fitted__(self):
        return True


@pytest.fixture(scope="module")
def model():
    return LeastSquaresAUC(alpha=0.5).fit(X, Y)


@pytest.fixture
def file(tmp_path, model):
    save(model, tmp_path / "model.skops")
    return tmp_path / "model.skops"


def rewrite(file, **changed):
    """Replace parts of an archive; None leaves one out."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    names = {"schema": "schema.json", "told": "aucmax.json"}
    parts |= {names[key]: value for key, value in changed.items()}
    with zipfile.ZipFile(file, "w") as archive:
        for name, value in parts.items():
            if value is not None:
                text = value if isinstance(value, bytes) else json.dumps(value)
                archive.writestr(name, text)


# What a file tells of itself


def test_metadata(tmp_path, model):
    given = {"auc": np.float64(0.9), "rows": np.int64(40), "shape": np.arange(2)}
    save(model, tmp_path / "a.skops", metadata=given | {"by": "Müller", "n": [1, None]})
    found = read_metadata(str(tmp_path / "a.skops"))
    assert found["format"] == 1
    assert found["model"] == "aucmax.LeastSquaresAUC"
    assert found["parameters"]["alpha"] == 0.5
    assert set(found["versions"]) == {
        "aucmax",
        "scikit-learn",
        "numpy",
        "scipy",
        "Python",
    }
    assert found["versions"]["aucmax"] == aucmax.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", found["saved_at"])
    assert found["needs_trust"] == []
    assert found["metadata"] == {
        "auc": 0.9,
        "rows": 40,
        "shape": [0, 1],
        "by": "Müller",
        "n": [1, None],
    }


def test_metadata_that_are_larger_than_the_model(tmp_path, model):
    text = np.random.default_rng(0).bytes(100_000).hex()
    save(model, tmp_path / "a.skops", metadata={"text": text})
    assert read_metadata(tmp_path / "a.skops")["metadata"] == {"text": text}
    assert_array_equal(load(tmp_path / "a.skops").coef_, model.coef_)


def test_parameters_of_a_pipeline(tmp_path, model):
    pipeline = make_pipeline(StandardScaler(with_mean=False), model)
    save(pipeline, tmp_path / "a.skops")
    found = read_metadata(tmp_path / "a.skops")["parameters"]
    assert found["leastsquaresauc__alpha"] == 0.5
    assert found["standardscaler__with_mean"] is False
    assert found["standardscaler"] == "StandardScaler(with_mean=False)"


@pytest.mark.parametrize(
    "metadata", [{"model": object()}, {(1, 2): 3}, {"a": {1, 2}}, ["a"], "text"]
)
def test_metadata_that_json_has_no_word_for(tmp_path, model, metadata):
    with pytest.raises(ValueError, match="metadata must be"):
        save(model, tmp_path / "model.skops", metadata=metadata)
    assert list(tmp_path.iterdir()) == []


def test_file_is_one_of_skops(file, model):
    trusted = skops.io.get_untrusted_types(file=file)
    loaded = skops.io.load(file, trusted=trusted)
    assert_array_equal(loaded.coef_, model.coef_)


# What a file may name


def test_trusted_names_are_all_there():
    for name in [*trusted_types(), *REASONS]:
        module, _, rest = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), rest)), name


def call_of(function, *arguments, loader="ConstructorFromReduceNode"):
    """Return a schema in which something is called with texts."""
    module, _, name = function.rpartition(".")
    texts = [
        {
            "__class__": "str",
            "__module__": "builtins",
            "__loader__": "JsonNode",
            "content": json.dumps(argument),
        }
        for argument in arguments
    ]
    return {
        "__class__": name,
        "__module__": module,
        "__loader__": loader,
        "content": {
            "__class__": "tuple",
            "__module__": "builtins",
            "__loader__": "TupleNode",
            "content": texts,
        },
        "protocol": 2,
    }


@pytest.mark.parametrize("loader", ["ConstructorFromReduceNode", "ObjectNode"])
@pytest.mark.parametrize(
    "function",
    ["os.system", "posix.system", "builtins.eval", "builtins.exec", "subprocess.Popen"],
)
def test_hostile_file_runs_nothing(tmp_path, file, function, loader):
    mark = tmp_path / "mark"
    is_python = function.startswith("builtins")
    code = f"open({str(mark)!r}, 'w')" if is_python else f"touch {mark}"
    rewrite(file, schema=call_of(function, code, loader=loader))
    with pytest.raises(UntrustedModel, match=re.escape(f"names {function}, whose")):
        load(file)
    assert not mark.exists()


def test_hostile_file_would_run_something_elsewhere(tmp_path, file):
    """The files above are what they seem: with trust, the call is made."""
    mark = tmp_path / "mark"
    rewrite(file, schema=call_of("os.system", f"touch {mark}"))
    assert load(file, trusted=["os.system"]) == 0
    assert mark.exists()


def test_functions_of_our_own_are_not_trusted_by_prefix(tmp_path, file):
    rewrite(file, schema=call_of("aucmax.io.parquet.write_parquet", str(tmp_path)))
    with pytest.raises(UntrustedModel, match=r"names aucmax\.io\.parquet\.write_"):
        load(file)


@pytest.mark.parametrize("loader", ["FunctionNode", "TypeNode"])
def test_hostile_attribute(file, loader):
    with zipfile.ZipFile(file) as archive:
        schema = json.loads(archive.read("schema.json"))
    schema["content"]["content"]["decision_function"] = {
        "__class__": "system",
        "__module__": "os",
        "__loader__": loader,
    }
    schema["content"]["key_types"]["content"].append(
        {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
    )
    rewrite(file, schema=schema)
    with pytest.raises(UntrustedModel, match=r"names os\.system, whose"):
        load(file)


def test_types_of_others_are_asked_about(tmp_path, model):
    pipeline = make_pipeline(Doubled(), StandardScaler(), model).fit(X, Y)
    file = tmp_path / "model.skops"
    save(pipeline, file)
    name = f"{Doubled.__module__}.Doubled"
    assert read_metadata(file)["needs_trust"] == [name]
    with pytest.raises(UntrustedModel) as caught:
        load(file)
    assert isinstance(caught.value, ValueError)
    assert caught.value.types == [name]
    assert pickle.loads(pickle.dumps(caught.value)).types == [name]
    message = str(caught.value)
    assert f"pass trusted=['{name}']" in message
    assert "\n" not in message
    expected = pipeline.decision_function(X)
    for trusted in ([name], [Doubled], (Doubled, "another.Name")):
        loaded = load(file, trusted=trusted)
        assert_array_equal(loaded.decision_function(X), expected)


def test_advice_includes_what_was_trusted_already(tmp_path):
    tree = KNeighborsClassifier(3, algorithm="kd_tree").fit(X, Y)
    save(make_pipeline(Doubled(), tree), tmp_path / "model.skops")
    with pytest.raises(UntrustedModel) as caught:
        load(tmp_path / "model.skops", trusted=[Doubled])
    assert f"{KDTree.__module__}.{KDTree.__name__}" in caught.value.types
    assert not any("Doubled" in name for name in caught.value.types)
    trusted = str(caught.value).partition("trusted=")[2].rstrip(".")
    names = json.loads(trusted.replace("'", '"'))
    loaded = load(tmp_path / "model.skops", trusted=names)
    assert_array_equal(loaded.predict(X), tree.predict(2 * X))


@pytest.mark.parametrize("trusted", ["os.system", True, [1], 5])
def test_trusted_that_is_no_list_of_types(file, trusted):
    with pytest.raises(ValueError, match="trusted"):
        load(file, trusted=trusted)


def local_class():
    class Local(Doubled):
        pass

    return Local()


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (FunctionTransformer(lambda X: X), "has no name"),
        (local_class(), "was made inside a function"),
        (FunctionTransformer(kw_args={"lock": threading.Lock()}), "cannot be saved"),
    ],
)
def test_models_that_would_not_come_back(tmp_path, model, part, reason):
    with pytest.raises(ValueError, match=reason):
        save(make_pipeline(part, model), tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


# Damage


@pytest.mark.parametrize("percent", range(0, 100, 10))
def test_file_that_is_cut_off(file, percent):
    data = file.read_bytes()
    file.write_bytes(data[: len(data) * percent // 100])
    for read in (load, read_metadata):
        with pytest.raises(ValueError, match="is not a model file, or it is damaged"):
            read(file)


def test_changed_bytes_are_found_or_change_nothing(file, model):
    data = file.read_bytes()
    expected = model.decision_function(X)
    n_refused = 0
    for place in np.random.default_rng(0).integers(0, len(data), 150):
        changed = bytearray(data)
        changed[place] ^= 0xFF
        file.write_bytes(changed)
        try:
            loaded = load(file)
        except ValueError:
            n_refused += 1
        else:
            # In the date of a part, for example.
            assert_array_equal(loaded.decision_function(X), expected)
    assert n_refused > 75


def test_files_of_other_kinds(tmp_path, model):
    file = tmp_path / "model.skops"
    for data in (b"", b"hello", pickle.dumps(model)):
        file.write_bytes(data)
        with pytest.raises(ValueError, match="is not a model file"):
            load(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "hello")
    with pytest.raises(ValueError, match=r"was not written by aucmax\.io\.save\. Give"):
        load(file)
    skops.io.dump(model, file)
    with pytest.raises(ValueError, match=r"not written .* skops\.io\.load may read it"):
        load(file)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        load(tmp_path / "other.skops")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        load(tmp_path)


@pytest.mark.parametrize(
    "told",
    [
        b"{",
        b"[]",
        {},
        {"format": "1", "versions": {}},
        {"format": True, "versions": {}},
    ],
)
def test_metadata_that_are_damaged(file, told):
    rewrite(file, told=told)
    with pytest.raises(ValueError, match=r"damaged|not written by"):
        load(file)


@pytest.mark.parametrize("schema", [b"{", b"[]", {}, None])
def test_schema_that_is_damaged(file, schema):
    rewrite(file, schema=schema)
    with pytest.raises(ValueError, match="cannot be loaded: it is damaged"):
        load(file)


def nodes_of(value):
    """Yield all dicts inside."""
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from nodes_of(each)


def test_a_module_that_is_missing_is_named(tmp_path, monkeypatch):
    (tmp_path / "width.py").write_text("def linear(X, Y):\n    return X @ Y.T\n")
    monkeypatch.syspath_prepend(tmp_path)
    linear = importlib.import_module("width").linear
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    model = NBAUC(10, kernel=linear, gamma=1.0, alpha=0.1, random_state=0).fit(X, y)
    file = tmp_path / "model.aucmax"
    save(model, file)
    (tmp_path / "width.py").unlink()
    monkeypatch.delitem(sys.modules, "width")
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    with pytest.raises(ValueError, match="needs the module width"):
        load(file, trusted=["width.linear"])


def test_senseless_schemas_are_refused(file):
    with zipfile.ZipFile(file) as archive:
        text = archive.read("schema.json")
    rng = np.random.default_rng(0)
    values = ["x", "", 3, None, [], {}, "TupleNode", "ObjectNode", "NdArrayNode", "map"]
    n_refused = 0
    for _ in range(80):
        schema = json.loads(text)
        nodes = list(nodes_of(schema))
        node = nodes[rng.integers(len(nodes))]
        node[list(node)[rng.integers(len(node))]] = values[rng.integers(len(values))]
        rewrite(file, schema=schema)
        try:
            load(file)
        except ValueError:
            n_refused += 1
    # The rest changed what skops does not read.
    assert n_refused > 20


# Versions


def test_newer_format(file):
    told = read_metadata(file)
    told["format"], told["versions"]["aucmax"] = 2, "9.0"
    rewrite(file, told=told)
    for read in (load, read_metadata):
        with pytest.raises(
            ValueError, match=r"has format 2, of aucmax 9\.0; .* Update"
        ):
            read(file)


def test_other_minor_version_of_scikit_learn(file, model):
    told = read_metadata(file)
    here = told["versions"]["scikit-learn"]
    told["versions"]["scikit-learn"] = "1.2.7"
    rewrite(file, told=told)
    expected = rf"scikit-learn 1\.2\.7 and is loaded with {re.escape(here)}"
    with pytest.warns(UserWarning, match=expected) as caught:
        loaded = load(file)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert_array_equal(loaded.coef_, model.coef_)


def test_other_patch_of_scikit_learn_is_no_news(tmp_path, model):
    pipeline = make_pipeline(StandardScaler(), model).fit(X, Y)
    file = tmp_path / "model.skops"
    save(pipeline, file)
    told = read_metadata(file)
    major, minor = told["versions"]["scikit-learn"].split(".")[:2]
    told["versions"]["scikit-learn"] = f"{major}.{minor}.99"
    with zipfile.ZipFile(file) as archive:
        schema = archive.read("schema.json")
    old = re.sub(rb'(\\")[0-9.]+(\\")', rb"\g<1>0.1.0\g<2>", schema)
    assert old != schema
    rewrite(file, told=told, schema=old)
    # Warnings are errors here; scikit-learn's own would be one.
    load(file)


def test_class_that_is_no_longer_there(file):
    told = read_metadata(file)
    told["versions"]["aucmax"] = "0.0.1"
    with zipfile.ZipFile(file) as archive:
        schema = archive.read("schema.json").replace(b"LeastSquaresAUC", b"SquaresAUC")
    rewrite(file, told=told, schema=schema)
    name = "aucmax.SquaresAUC"
    with pytest.raises(ValueError, match=r"the versions with which .* aucmax 0\.0\.1"):
        load(file, trusted=[name])


# Writing


def test_new_file_replaces_the_old_one(file):
    save(LeastSquaresAUC(alpha=7.0), str(file))
    assert load(str(file)).alpha == 7.0
    assert os.listdir(file.parent) == ["model.skops"]


def no_space(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")


def half_a_file(model, file, **options):
    file.write(b"PK half a file")
    no_space()


@pytest.mark.parametrize(
    ("owner", "name", "failure"),
    [
        (os, "fsync", no_space),
        (skops.io, "dump", half_a_file),
        (zipfile.ZipFile, "writestr", no_space),
        (pathlib.Path, "replace", no_space),
    ],
)
def test_full_disk_leaves_the_old_file(file, monkeypatch, owner, name, failure):
    before = file.read_bytes()
    monkeypatch.setattr(owner, name, failure)
    with pytest.raises(
        OSError, match=r"model\.skops cannot be written: No sp"
    ) as caught:
        save(LeastSquaresAUC(), file)
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(file.parent) == ["model.skops"]
    assert file.read_bytes() == before


def test_folder_that_may_not_be_written(file, monkeypatch):
    """Root may write anywhere, so the refusal is made up."""
    before, allow = file.read_bytes(), pathlib.Path.open

    def refuse(self, *args, **kwargs):
        if self.parent != file.parent:
            return allow(self, *args, **kwargs)
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    with monkeypatch.context() as patch:
        patch.setattr(pathlib.Path, "open", refuse)
        expected = r"model\.skops cannot be written: Permission denied"
        with pytest.raises(PermissionError, match=expected):
            save(LeastSquaresAUC(), file)
    assert file.read_bytes() == before
    assert os.listdir(file.parent) == ["model.skops"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write")
def test_folder_that_is_read_only(file):
    file.parent.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match=r"model\.skops cannot be written"):
            save(LeastSquaresAUC(), file)
    finally:
        file.parent.chmod(0o700)
    load(file)


def test_places_that_are_none(tmp_path, model):
    with pytest.raises(
        FileNotFoundError, match=r"no folder .*absent to write a\.skops"
    ):
        save(model, tmp_path / "absent" / "a.skops")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        save(model, tmp_path)


def test_many_write_and_read_at_once(file):
    models = [LeastSquaresAUC(alpha=float(k)).fit(X, Y) for k in range(1, 4)]
    save(models[0], file)
    failures, found = [], set()

    def write(model):
        for _ in range(5):
            save(model, file)

    def read():
        for _ in range(10):
            loaded = load(file)
            found.add(loaded.alpha)
            assert_array_equal(loaded.coef_, models[int(loaded.alpha) - 1].coef_)

    def run(task, *args):
        try:
            task(*args)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(write, model)) for model in models]
    threads.append(threading.Thread(target=run, args=(read,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    assert found <= {1.0, 2.0, 3.0}
    assert os.listdir(file.parent) == ["model.skops"]


# Two classes with a state of their own


def test_saved_without_trees_of_scipy(monkeypatch):
    monkeypatch.setattr(trees, "SMALLEST_TREE", 16)
    index = trees.TreeIndex(3)
    index.insert(X)
    new = pickle.loads(pickle.dumps(index))
    assert index.__getstate__()["_trees"] == []
    assert [part[:2] for part in new._trees] == [(0, 32)]
    assert_array_equal(new.query(X, 3).ids, index.query(X, 3).ids)


@pytest.mark.parametrize("protocol", [0, 5])
def test_slots_in_every_protocol(protocol):
    moments = LowRankMoments(np.ones((2, 1), np.int8), np.zeros((2, 3)), 5)
    assert pickle.loads(pickle.dumps(moments, protocol)).count == 5


def test_models_without_skops(monkeypatch, tmp_path, model):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    for call in (lambda: save(model, tmp_path / "a"), lambda: load(tmp_path / "a")):
        with pytest.raises(ImportError, match=r'pip install "aucmax\[io\]"'):
            call()
    assert list(tmp_path.iterdir()) == []


def test_kernel_function_is_asked_about(tmp_path):
    from sklearn.metrics.pairwise import rbf_kernel

    model = Nystroem(4, kernel=rbf_kernel, random_state=0).fit(X)
    save(model, tmp_path / "model.skops")
    with pytest.raises(UntrustedModel, match=r"pairwise\.rbf_kernel"):
        load(tmp_path / "model.skops")
    name = "sklearn.metrics.pairwise.rbf_kernel"
    loaded = load(tmp_path / "model.skops", trusted=[name])
    assert_array_equal(loaded.transform(X), model.transform(X))


def test_model_that_is_not_fitted(tmp_path):
    save(OPAUC(alpha=0.2, rank=5), tmp_path / "model.skops")
    assert str(load(tmp_path / "model.skops")) == "OPAUC(alpha=0.2, rank=5)"
