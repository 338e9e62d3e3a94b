# SPDX-License-Identifier: BSD-3-Clause
"""Targets: files of models, damaged as bytes or in their parts, and checkpoints."""

import contextlib
import io
import tempfile
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
from fuzz import saved_models
from fuzz.judging import Wrong, naming
from fuzz.mutations import mutate
from sklearn.base import clone

from aucmax import NBAUC, OAM, OPAUC, SOLAM, LeastSquaresAUC, RankSVM
from aucmax.io import Checkpoints, load, read_metadata

STOPPED_AFTER = 4
# What numba says, where it checks bounds; numpy says more.
OUT_OF_BOUNDS = "index is out of bounds"
METHODS = ["decision_function", "predict", "predict_proba", "transform"]
STREAMED = [
    OPAUC(),
    OPAUC(solver="gradient"),
    OAM(random_state=0),
    SOLAM(n_passes=2),
    LeastSquaresAUC(),
    RankSVM(alpha=0.01),
    NBAUC(8, gamma=0.1, alpha=0.01, random_state=0),
]


def bytes_case(rng, folder):
    parts = saved_models.saved(rng.randrange(len(saved_models.MODELS)))
    compression = rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
    other = saved_models.packed(saved_models.saved(1), compression)
    data = mutate(rng, saved_models.packed(parts, compression), other)
    load_and_score(folder, data)


def parts_case(rng, folder):
    parts = saved_models.saved(rng.randrange(len(saved_models.MODELS)))
    load_and_score(folder, saved_models.packed(saved_models.change_parts(rng, parts)))


def load_and_score(folder, data):
    path = folder / "model.skops"
    path.write_bytes(data)
    with naming(path):
        read_metadata(path)
        model = load(path)
    use(model)


def use(model):
    """Score and learn on: values in the file may be wrong, but nothing may crash."""
    X, y = saved_models.rows()
    for name in METHODS:
        _try(getattr(model, name, None), X)
    if "partial_fit" in dir(type(model)):
        _try(getattr(model, "partial_fit", None), X, y)
        _try(getattr(model, METHODS[0], None), X)


def _try(method, *args):
    if method is None:
        return
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            method(*args)
    except MemoryError as error:
        raise Wrong(f"MemoryError in use of a loaded model: {error}") from error
    except Exception as error:
        if str(error) == OUT_OF_BOUNDS:
            raise Wrong(f"a kernel goes out of bounds in {method.__name__}") from error
        # The values of a model that was tampered with are the maker's business.


def batches():
    X, y = saved_models.rows()
    return [(X[k : k + 20], y[k : k + 20]) for k in range(0, len(y), 20)]


class Stopping(Checkpoints):
    """Checkpoints of a fit that somebody stops after some of them."""

    def offer(self, state):
        super().offer(state)
        if self._n_offered == STOPPED_AFTER:
            raise KeyboardInterrupt


@cache
def checkpoint_files(number):
    """Return the files of a fit that was stopped, and the scores it would end with."""
    model = STREAMED[number]
    whole = clone(model).fit_stream(batches())
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.suppress(KeyboardInterrupt):
            clone(model).fit_stream(batches(), checkpoint=Stopping(folder))
        files = {
            file.name: saved_models.packed(
                saved_models.members(file), zipfile.ZIP_STORED
            )
            for file in sorted(Path(folder).glob("*.skops"))
        }
    return files, whole.decision_function(saved_models.rows()[0])


def checkpoints_case(rng, folder):
    number = rng.randrange(len(STREAMED))
    files, expected = checkpoint_files(number)
    only_bytes = rng.random() < 0.6
    for name, data in files.items():
        if rng.random() < 0.7:
            data = (
                mutate(rng, data)
                if only_bytes
                else saved_models.packed(_changed(rng, data), zipfile.ZIP_STORED)
            )
        (folder / name).write_bytes(data)
    if rng.random() < 0.1:
        (folder / "checkpoint-99999999.skops").mkdir()
    if rng.random() < 0.1:
        (folder / "checkpoint-00000009.skops.77-abc.tmp").write_bytes(b"half")
    model = clone(STREAMED[number])
    if not only_bytes:
        # Its values are not checked.
        _try(model.fit_stream, batches(), Checkpoints(folder))
        return
    with naming(folder):
        model.fit_stream(batches(), checkpoint=Checkpoints(folder))
    scores = model.decision_function(saved_models.rows()[0])
    if not np.array_equal(scores, expected):
        raise Wrong(f"{model} resumed from damaged bytes to another model")


def _changed(rng, data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return saved_models.change_parts(rng, parts)
