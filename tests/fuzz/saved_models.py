# SPDX-License-Identifier: BSD-3-Clause
"""Saved models of every kind, the same bytes every time, and damage to their parts."""

import contextlib
import io
import json
import re
import tempfile
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
from estimator_list import ESTIMATORS, quick
from fuzz.mutations import mutate
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from aucmax import NBAUC, OPAUC, AUCClassifier, Nystroem, RankSVM
from aucmax.io import save

SEED = {"random_state": 0}
SMALL = {"cv": 2, "time_budget": 3.0, **SEED}
MODELS = [
    *(quick(each, random_state=0) for each in ESTIMATORS),
    *[AUCClassifier(families=[each], **SMALL) for each in ("boosting", "forest")],
    AUCClassifier(families=["kernel"], **SMALL),
    DecisionTreeClassifier(max_depth=3, **SEED),
    RandomForestClassifier(3, max_depth=3, **SEED),
    GradientBoostingClassifier(n_estimators=3, max_depth=2, **SEED),
    HistGradientBoostingClassifier(
        max_iter=3,
        max_leaf_nodes=4,
        min_samples_leaf=5,
        categorical_features=[0],
        **SEED,
    ),
    make_pipeline(StandardScaler(), NBAUC(8, gamma=0.1, alpha=0.01, **SEED)),
    make_pipeline(StandardScaler(), Nystroem(5, **SEED), RankSVM(alpha=0.1)),
    make_pipeline(StandardScaler(), OPAUC(rank=2)),
    make_pipeline(StandardScaler(), RandomForestClassifier(2, max_depth=3, **SEED)),
]
# A date of its own, so that a seed always gives the same bytes.
DATE = (2026, 1, 1, 0, 0, 0)
ODD = [
    None,
    True,
    -1,
    0,
    3,
    10**30,
    1e308,
    "",
    "x",
    "float64",
    [],
    {},
    [0],
    [[]],
    {"": 0},
]
INTS = [-1, -2, 0, 1, 5, 2**31 - 1, -(2**31), 10**6, 2**62]
FLOATS = [np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0, 1e-320]
DTYPES = ["<f8", "<f4", "<i8", "<i4", "|b1", "<u2", "<U3", ">f8", "<c16", "|S4"]


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    X[:, 0] = rng.integers(0, 5, 120)
    return X, (X[:, 1] + np.isin(X[:, 0], [1, 3]) > 0.5).astype(int)


@cache
def saved(number):
    """Return the members of the file of a fitted model, by name."""
    X, y = rows()
    model = MODELS[number]
    if hasattr(model, "transform") and hasattr(model, "partial_fit"):
        model.partial_fit(X)
    elif hasattr(model, "partial_fit"):
        model.partial_fit(X, y, classes=[0, 1])
    else:
        model.fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.skops")
        save(model, file)
        return members(file)


def members(file):
    """Return the parts of a saved file, without what differs from run to run."""
    with zipfile.ZipFile(file) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    # skops names arrays by where they were in memory.
    schema = found["schema.json"].decode()
    places = dict.fromkeys(re.findall(r"\b\d{12,}\b", schema))
    numbers = {place: f"{k:015}" for k, place in enumerate(places, 10**14)}
    found = {_renumber(numbers, name): data for name, data in found.items()}
    found["schema.json"] = _renumber(numbers, schema).encode()
    told = json.loads(found["aucmax.json"]) | {"saved_at": "2026-01-01T00:00:00+00:00"}
    return found | {"aucmax.json": json.dumps(told).encode()}


def _renumber(numbers, text):
    return re.sub(r"\b\d{12,}\b", lambda match: numbers.get(match[0], match[0]), text)


def packed(parts, compression=zipfile.ZIP_DEFLATED):
    """Return the bytes of an archive of these members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name, DATE), data, compression)
    return out.getvalue()


def change_parts(rng, parts):
    """Return members of which some nodes of JSON or some arrays are changed."""
    parts = dict(parts)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        arrays = [name for name in parts if name.endswith(".npy")]
        draw = rng.random()
        if arrays and draw < 0.55:
            name = rng.choice(arrays)
            parts[name] = change_array(rng, parts[name])
        elif draw < 0.85:
            parts["schema.json"] = change_json(rng, parts["schema.json"])
        elif draw < 0.92:
            parts["aucmax.json"] = change_json(rng, parts["aucmax.json"])
        elif draw < 0.96:
            a, b = rng.choice([*parts]), rng.choice([*parts])
            parts[a], parts[b] = parts[b], parts[a]
        else:
            del parts[rng.choice([*parts])]
        if "schema.json" not in parts or "aucmax.json" not in parts:
            break
    return parts


def change_json(rng, data):
    try:
        tree = json.loads(data)
    except ValueError:
        return mutate(rng, data) if data else b"{"
    places = list(_places(tree))
    if not places:
        return json.dumps(rng.choice(ODD)).encode()
    parent, key = rng.choice(places)
    draw = rng.random()
    if draw < 0.25:
        parent[key] = rng.choice(ODD)
    elif draw < 0.5:
        other, its_key = rng.choice(places)
        # Not by value: two places may share a node, which json writes twice.
        with contextlib.suppress(RecursionError):
            parent[key] = json.loads(json.dumps(other[its_key]))
    elif draw < 0.7:
        same = [other[k] for other, k in places if k == key]
        parent[key] = json.loads(json.dumps(rng.choice(same)))
    elif draw < 0.8 and isinstance(parent, dict):
        parent[rng.choice(ODD[7:10])] = parent.pop(key)
    elif draw < 0.9 and isinstance(parent[key], list):
        parent[key] = parent[key] * rng.choice([0, 2, 3])
    else:
        del parent[key]
    return json.dumps(tree).encode()


def _places(tree):
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in pairs:
        yield tree, key
        if isinstance(value, dict | list):
            yield from _places(value)


def change_array(rng, data):
    """Return a file of an array with other values, shape or type."""
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception:
        # It was damaged before.
        return mutate(rng, data) if data else b"\x93NUMPY"
    if not isinstance(array, np.ndarray):
        # It was swapped with an archive of arrays.
        return mutate(rng, data)
    draw = rng.random()
    if draw < 0.5 and array.size:
        array = _other_values(rng, array)
    elif draw < 0.7:
        shapes = [(0,), (), (array.size,), (1, array.size), (array.size, 1), (-1, 2)]
        array = np.resize(array, rng.choice([s for s in shapes if -1 not in s]))
    elif draw < 0.8:
        flat = array.ravel()
        count = rng.choice([array.size // 2, array.size + 3, max(array.size - 1, 0)])
        array = np.resize(flat, count)
    elif draw < 0.92:
        kind = rng.choice(DTYPES)
        with contextlib.suppress(ValueError, TypeError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = array.astype(kind)
    else:
        return mutate(rng, data)
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def _other_values(rng, array):
    array = array.copy()
    flat = array.reshape(-1)
    for _ in range(rng.choice([1, 1, 3, 20])):
        where = rng.randrange(flat.size)
        if array.dtype.names:
            name = rng.choice(array.dtype.names)
            flat[name][where : where + 1] = _odd_value(rng, array.dtype[name])
        else:
            flat[where : where + 1] = _odd_value(rng, array.dtype)
    return array


def _odd_value(rng, dtype):
    value = rng.choice(INTS if dtype.kind in "iub" else FLOATS)
    with np.errstate(all="ignore"):
        if dtype.kind in "iufb":
            return np.asarray(value).astype(dtype)
    return np.zeros((), dtype)
