# SPDX-License-Identifier: BSD-3-Clause
"""A fixed part of what ``make fuzz`` runs for hours."""

import pytest
from fuzz.run import confirm
from fuzz.workers import Worker, start_server

# Cases of each target, in parts that workers of pytest share. About a minute in all.
PARTS = {
    "read_table": [100, 100],
    "read_batches": [100, 100],
    "readers": [150],
    "cache": [40],
    "model_bytes": [40],
    "model_parts": [40, 40],
    "checkpoints": [20],
    "fit": [60, 60],
    "partial_fit": [60, 60],
    "fit_stream": [60],
    "classifier": [6],
    "metrics": [150],
}


def ranges():
    for target, sizes in PARTS.items():
        first = 0
        for size in sizes:
            yield pytest.param(target, first, size, id=f"{target}-{first}")
            first += size


@pytest.mark.parametrize(("target", "first", "size"), [*ranges()])
def test_nothing_is_wrong(target, first, size):
    worker = Worker(start_server())
    wrong = []
    try:
        for seed in range(first, first + size):
            outcome = worker.run(target, seed)
            if outcome.kind == "wrong":
                outcome = confirm(worker, target, seed, outcome)
            if outcome.kind == "wrong":
                wrong.append(f"--target {target} --seed {seed}: {outcome.cause}")
    finally:
        worker.stop()
    assert not wrong, "\n".join(["python -m fuzz.run ...", *wrong])
