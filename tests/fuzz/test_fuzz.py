# SPDX-License-Identifier: BSD-3-Clause
"""A fixed part of what ``make fuzz`` runs for hours."""

import pytest
from fuzz.run import confirm
from fuzz.workers import Worker, start_server

# Cases of each target, in parts that workers of pytest share: a minute of CPU time.
PARTS = {
    "read_table": [500, 500],
    "read_batches": [500, 500],
    "readers": [600],
    "cache": [300],
    "model_bytes": [250],
    "model_parts": [150, 150],
    "checkpoints": [200],
    "fit": [400, 400],
    "partial_fit": [500, 500],
    "fit_stream": [800],
    "classifier": [25],
    "metrics": [1500],
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
