# SPDX-License-Identifier: BSD-3-Clause
"""The AUC of three online models on a stream that changes half way.

Run it with ``python examples/stream.py``. With ``--plot FILE`` it also saves a figure,
which needs matplotlib: ``pip install "aucmax[plot]"``.
"""

import argparse
from collections.abc import Iterator
from typing import Any

from sklearn.linear_model import SGDClassifier

from aucmax import OPAUC, OnlineUnivariate
from aucmax.datasets import drifting_stream
from aucmax.metrics import StreamRecord, evaluate_stream
from aucmax.plots import StreamDisplay

N_ROWS, N_FEATURES, BATCH_ROWS, WINDOW = 20_000, 10, 100, 1000
MODELS = {
    "OPAUC": OPAUC(random_state=0),
    "OnlineUnivariate": OnlineUnivariate(average=False, random_state=0),
    "SGDClassifier": SGDClassifier(random_state=0),
}
NOTES = """
Each batch is scored first and learned after; the AUC is of the last {window:,} rows.
After row {half:,} what spoke for a positive speaks against it. OPAUC weighs all rows
alike, however old: it is best while nothing changes, and recovers only when new rows
outnumber the old. The other two follow their latest steps and recover at once, with
average=False in the case of OnlineUnivariate."""


def main() -> None:
    """Feed the same stream to each model and print the AUC over time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="save a figure there")
    file = parser.parse_args().plot

    records: dict[str, list[StreamRecord]] = {}
    for name, model in MODELS.items():
        stream = evaluate_stream(model, draw_stream(), window=WINDOW, score=score)
        records[name] = list(stream)
    print_table(records)
    print(NOTES.format(window=WINDOW, half=N_ROWS // 2))
    if file:
        save_figure(records, file)


def draw_stream() -> Iterator[tuple[Any, Any]]:
    """Return batches of rows with 20 % positives; the classes swap half way."""
    return drifting_stream(
        N_ROWS // BATCH_ROWS, BATCH_ROWS, N_FEATURES, 0.2, random_state=0
    )


def score(model: Any, X: Any) -> Any:
    """Leave out the intercept, so that scores of different times can be compared."""
    return X @ model.coef_[0]


def print_table(records: dict[str, list[StreamRecord]]) -> None:
    """Print a line for every tenth of the stream."""
    print("rows seen" + "".join(f"{name:>{len(name) + 3}}" for name in records))
    lines = list(zip(*records.values(), strict=True))
    step = N_ROWS // BATCH_ROWS // 10
    for line in lines[step - 1 :: step]:
        cells = (
            f"{record.auc:{len(name) + 3}.3f}"
            for name, record in zip(records, line, strict=True)
        )
        print(f"{line[0].n_rows:9,}" + "".join(cells))


def save_figure(records: dict[str, list[StreamRecord]], file: str) -> None:
    """Draw all models on the same axes."""
    ax = None
    for name, of_model in records.items():
        display = StreamDisplay.from_records(of_model, ax=ax, label=name)
        ax = display.ax_
    display.figure_.savefig(file, dpi=150)
    print(f"\nSaved {file}.")


if __name__ == "__main__":
    main()
