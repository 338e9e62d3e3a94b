# SPDX-License-Identifier: BSD-3-Clause
"""States of a fit that survive whatever happens to the process or the disk."""

import importlib
import os
import signal
import subprocess
import sys
import time
import types
import warnings

import killed
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier

from aucmax import NBAUC, OPAUC, LeastSquaresAUC, RankSVM
from aucmax.io import Checkpoints, load
from aucmax.metrics import evaluate_stream

pytest.importorskip("skops")
WHAT = {"estimator": "Any", "parameters": {"alpha": "0.1"}}


def batches(n=1200, size=200):
    X, y = make_classification(n, weights=[0.8], random_state=0)
    return [(X[k : k + size], y[k : k + size]) for k in range(0, n, size)]


def offered(folder, n, **settings):
    kept = Checkpoints(folder, **settings)
    assert kept.resume(WHAT) is None
    for k in range(1, n + 1):
        kept.offer(lambda k=k: {"k": k, "array": np.arange(k)})
    return kept


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def test_keeps_the_last_ones(tmp_path):
    offered(tmp_path / "new" / "folder", 5, every=2, keep=1)
    assert names(tmp_path / "new" / "folder") == ["checkpoint-00000002.skops"]
    state = Checkpoints(tmp_path / "new" / "folder").resume(WHAT)
    assert state["k"] == 4
    assert_array_equal(state["array"], np.arange(4))


def test_numbers_go_on(tmp_path):
    offered(tmp_path, 3)
    again = Checkpoints(tmp_path)
    assert again.resume(WHAT)["k"] == 3
    again.offer(lambda: {"k": 9})
    assert names(tmp_path) == [f"checkpoint-0000000{k}.skops" for k in (3, 4)]
    assert Checkpoints(tmp_path).resume(WHAT) == {"k": 9}


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_falls_back_when_the_newest_is_cut_off(tmp_path, share):
    offered(tmp_path, 3)
    newest = tmp_path / "checkpoint-00000003.skops"
    data = newest.read_bytes()
    newest.write_bytes(data[: int(share * len(data))])
    with pytest.warns(UserWarning, match="00000003.* checkpoint before it is used"):
        assert Checkpoints(tmp_path).resume(WHAT)["k"] == 2


def test_falls_back_when_bits_have_changed(tmp_path):
    offered(tmp_path, 3)
    newest = tmp_path / "checkpoint-00000003.skops"
    data = bytearray(newest.read_bytes())
    where = data.index(np.arange(3).tobytes())
    data[where] ^= 1
    newest.write_bytes(bytes(data))
    with pytest.warns(UserWarning, match="00000003"):
        assert Checkpoints(tmp_path).resume(WHAT)["k"] == 2


def test_damaged_ones_do_not_count(tmp_path):
    offered(tmp_path, 3)
    (tmp_path / "checkpoint-00000003.skops").write_bytes(b"")
    kept = Checkpoints(tmp_path)
    with pytest.warns(UserWarning, match="00000003"):
        kept.resume(WHAT)
    kept.offer(lambda: {"k": 9})
    assert names(tmp_path) == [
        "checkpoint-00000002.skops",
        "checkpoint-00000003.damaged",
        "checkpoint-00000003.skops",
    ]
    assert Checkpoints(tmp_path).resume(WHAT) == {"k": 9}


def test_begins_anew_when_all_are_damaged(tmp_path):
    offered(tmp_path, 2)
    for file in tmp_path.iterdir():
        file.write_bytes(b"")
    with pytest.warns(UserWarning, match="not written to its end"):
        assert Checkpoints(tmp_path).resume(WHAT) is None
    assert names(tmp_path) == [f"checkpoint-0000000{k}.damaged" for k in (1, 2)]


@pytest.mark.parametrize("is_there", [False, True])
def test_code_that_is_not_found_is_no_damage(tmp_path, monkeypatch, is_there):
    folder, place = tmp_path / "kept", tmp_path / "modules"
    place.mkdir()
    module = place / "kernel_of_a_test.py"
    module.write_text("def product(X, Y):\n    return X @ Y.T\n")
    monkeypatch.syspath_prepend(place)
    name = module.stem
    product = importlib.import_module(name).product
    kept = offered(folder, 0)
    for _ in range(2):
        kept.offer(lambda: {"kernel": product})
    before = names(folder)
    again = Checkpoints(folder, trusted=[f"{name}.product"])
    assert again.resume(WHAT) == {"kernel": product}
    monkeypatch.delitem(sys.modules, name)
    module.unlink()
    if is_there:
        # But without the function.
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    importlib.invalidate_caches()
    with pytest.raises(ImportError, match=rf"00000002.*{name}.*Make it importable"):
        again.resume(WHAT)
    assert names(folder) == before


def test_damaged_ones_of_another_fit_stay(tmp_path):
    offered(tmp_path, 2)
    (tmp_path / "checkpoint-00000002.skops").write_bytes(b"")
    before = names(tmp_path)
    with (
        pytest.warns(UserWarning, match="00000002"),
        pytest.raises(ValueError, match="of another fit"),
    ):
        Checkpoints(tmp_path).resume(WHAT | {"estimator": "Other"})
    assert names(tmp_path) == before


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"estimator": "Other"}, "its estimator was Any, but now it is Other"),
        ({"parameters": {"alpha": "2"}}, r"its alpha was 0\.1, but now it is 2"),
    ],
)
def test_another_fit_is_refused(tmp_path, what, message):
    offered(tmp_path, 2)
    with pytest.raises(ValueError, match=message):
        Checkpoints(tmp_path).resume(WHAT | what)
    assert len(names(tmp_path)) == 2


def test_drafts_of_a_killed_process_are_deleted(tmp_path):
    offered(tmp_path, 1)
    (tmp_path / "checkpoint-00000002.skops.77-ab.tmp").write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("mine")
    Checkpoints(tmp_path).resume(WHAT)
    assert names(tmp_path) == ["checkpoint-00000001.skops", "notes.txt"]


def test_what_cannot_be_saved_leaves_the_others(tmp_path):
    kept = offered(tmp_path, 1)
    with pytest.raises(ValueError, match="cannot be saved"):
        kept.offer(lambda: {"k": lambda: None})
    assert names(tmp_path) == ["checkpoint-00000001.skops"]


class Doubled(SGDClassifier):
    """A model that load() asks about."""


def test_types_to_be_trusted(tmp_path):
    kept = offered(tmp_path, 0)
    kept.offer(lambda: {"model": Doubled()})
    with pytest.raises(ValueError, match="Doubled"):
        Checkpoints(tmp_path).resume(WHAT)
    state = Checkpoints(tmp_path, trusted=[Doubled]).resume(WHAT)
    assert isinstance(state["model"], Doubled)


@pytest.mark.parametrize("settings", [{"every": 0}, {"keep": 1.5}, {"every": True}])
def test_settings(tmp_path, settings):
    with pytest.raises(ValueError, match="whole number from 1 on"):
        Checkpoints(tmp_path, **settings)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file"):
        Checkpoints(tmp_path / "file")


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(alpha=1e-5, tol=1e-10),
        LeastSquaresAUC(),
        NBAUC(30, alpha=1e-5, gamma=0.05, tol=1e-6, random_state=0),
        OPAUC(),
    ],
    ids=str,
)
def test_fit_goes_on_from_files(model, tmp_path):
    class Stopping(Checkpoints):
        def offer(self, state):
            super().offer(state)
            if len(names(tmp_path)) == 2:
                raise KeyboardInterrupt

    source = batches()
    with pytest.raises(KeyboardInterrupt):
        clone(model).fit_stream(source, checkpoint=Stopping(tmp_path))
    resumed = clone(model).fit_stream(source, checkpoint=Checkpoints(tmp_path))
    whole = clone(model).fit_stream(source)
    X = source[0][0]
    assert_array_equal(resumed.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize(
    "model",
    [RankSVM(tol=0.1), NBAUC(30, alpha=0.01, gamma=0.05, tol=0.9, random_state=0)],
    ids=str,
)
def test_a_fit_that_needs_no_second_step_keeps_its_start(model, tmp_path):
    source = batches(6000, 1000)
    whole = clone(model).fit_stream(source, checkpoint=Checkpoints(tmp_path))
    assert whole.n_iter_ <= 1
    assert names(tmp_path)
    resumed = clone(model).fit_stream(source, checkpoint=Checkpoints(tmp_path))
    X = source[0][0]
    assert_array_equal(resumed.decision_function(X), whole.decision_function(X))
    assert resumed.history_ == whole.history_


# Its compiled code follows what it holds.
SGD = [
    "sklearn.linear_model._sgd_fast.Hinge",
    "sklearn.linear_model._stochastic_gradient.SGDClassifier",
]


@pytest.mark.parametrize("model", [OPAUC(), SGDClassifier(random_state=0)], ids=str)
@pytest.mark.parametrize("past", [{"window": 300}, {"window": None, "fading": 0.99}])
def test_evaluate_stream_goes_on(model, past, tmp_path):
    whole = clone(model)
    records = list(evaluate_stream(whole, batches(), **past))
    first = evaluate_stream(
        clone(model), batches(), checkpoint=Checkpoints(tmp_path, trusted=SGD), **past
    )
    # The third record has come, but its state has not been kept.
    seen = [next(first) for _ in range(3)]
    del first
    resumed = clone(model)
    rest = list(
        evaluate_stream(
            resumed, batches(), checkpoint=Checkpoints(tmp_path, trusted=SGD), **past
        )
    )
    assert len(rest) == 4
    assert rest == records[2:]
    assert_array_equal(np.array(seen), np.array(records[:3]))
    assert_array_equal(resumed.coef_, whole.coef_)
    with pytest.raises(ValueError, match=r"window|fading"):
        evaluate_stream(
            clone(model), batches(), checkpoint=Checkpoints(tmp_path, trusted=SGD)
        )


def newest(folder):
    return max(folder.glob("*.skops"), default=None)


@pytest.mark.skipif(os.name != "posix", reason="forks processes and kills them")
@pytest.mark.parametrize(
    "model",
    [RankSVM(alpha=1e-5, tol=1e-10), LeastSquaresAUC(), OPAUC()],
    ids=["ranksvm", "leastsquares", "opauc"],
)
def test_killed_again_and_again(model, tmp_path):
    """The model that comes out at the end is the same, bit for bit."""
    folder, out = tmp_path / "kept", tmp_path / "model.skops"
    rng = np.random.default_rng(0)
    n_killed = 0
    while not out.exists():
        process = killed.start_fork(killed.fit, model, folder, out)
        before = newest(folder)
        if n_killed < 3:
            # So that each one has something new to go on from.
            while newest(folder) == before and process.is_alive():
                time.sleep(0.001)
            process.join(rng.uniform(0, 0.03))
            process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        n_killed += process.exitcode != 0
    assert n_killed
    whole = clone(model).fit_stream(killed.batches())
    found = load(out)
    assert_array_equal(found.coef_, whole.coef_)
    assert_array_equal(found.intercept_, whole.intercept_)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 300 kB."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(place)],
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("file systems cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_disk_full(small_disk):
    kept = Checkpoints(small_disk)
    kept.resume(WHAT)
    kept.offer(lambda: {"k": 1})
    before = (small_disk / "checkpoint-00000001.skops").read_bytes()
    with pytest.raises(OSError, match=r"checkpoint-00000002.*cannot be written"):
        kept.offer(lambda: {"array": np.zeros(100_000)})
    assert names(small_disk) == ["checkpoint-00000001.skops"]
    assert (small_disk / "checkpoint-00000001.skops").read_bytes() == before
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Checkpoints(small_disk).resume(WHAT) == {"k": 1}
