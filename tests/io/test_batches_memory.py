# SPDX-License-Identifier: BSD-3-Clause
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

N_FEATURES = 10
# Rows of a file that is large enough to fill all buffers, and of a larger one.
SIZES = {
    "parquet": (300_000, 1_200_000),
    "arrow": (50_000, 500_000),
    "csv": (50_000, 250_000),
    "svm": (40_000, 280_000),
}

# Prints the peak of the resident set for each file.
CHILD = """
import sys
from pathlib import Path
import numpy as np
from aucmax.io import read_batches
from aucmax.io.tables import text

# pyarrow holds about ten blocks, and the small file should have more.
text.BLOCK_BYTES = (2**16,)

def peak(path):
    # The peak counts from here on.
    Path("/proc/self/clear_refs").write_text("5")
    target = None if path.endswith("svm") else "y"
    total = sum(
        float((X @ np.ones(X.shape[1])).sum())
        for X, _ in read_batches(path, target=target, batch_rows=5000)
    )
    status = Path("/proc/self/status").read_text()
    print(int(status.partition("VmHWM:")[2].split()[0]) * 1024, total)

for path in sys.argv[1:]:
    peak(path)
"""


def write(file, n):
    line = [0.5] * N_FEATURES
    if file.suffix == ".svm":
        pairs = " ".join(f"{k}:0.5" for k in range(1, N_FEATURES + 1))
        file.write_text(f"1 {pairs}\n" * n)
        return
    if file.suffix == ".csv":
        names = [f"x{k}" for k in range(N_FEATURES)]
        row = ",".join(map(str, line)) + ",1\n"
        file.write_text(",".join([*names, "y"]) + "\n" + row * n)
        return
    table = pa.table(
        {f"x{k}": np.full(n, 0.5) for k in range(N_FEATURES)} | {"y": np.ones(n)}
    )
    if file.suffix == ".parquet":
        # One row group, and numbers that are as long as they look.
        pa.parquet.write_table(
            table, file, row_group_size=n, use_dictionary=False, compression="none"
        )
    else:
        with pa.ipc.new_file(str(file), table.schema) as writer:
            writer.write_table(table, max_chunksize=5000)


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs Linux to see the peak"
)
def test_memory_does_not_grow_with_the_file(tmp_path):
    files = [tmp_path / f"{n}.{kind}" for kind in SIZES for n in SIZES[kind]]
    for file in files:
        write(file, int(file.stem))
    out = subprocess.check_output([sys.executable, "-c", CHILD, *files], text=True)
    lines = [line.split() for line in out.splitlines()]
    for file, (_, total) in zip(files, lines, strict=True):
        assert float(total) == 0.5 * N_FEATURES * int(file.stem)
    peaks = iter([int(peak) for peak, _ in lines])
    for kind, (small, large) in SIZES.items():
        grown = -next(peaks) + next(peaks)
        assert grown < 0.6 * (large - small) * N_FEATURES * 8, kind
