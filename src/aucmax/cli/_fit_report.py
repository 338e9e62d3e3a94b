# SPDX-License-Identifier: BSD-3-Clause
"""What ``aucmax fit`` says of a model: for people, for programs, and in its card."""

from pathlib import Path
from typing import Any

import click

from aucmax.cli._base import count, interval_text, show_columns, tell
from aucmax.cli._data import Problem
from aucmax.cli._fitting import score_rows
from aucmax.cli._streamed import Stream
from aucmax.cli._training import Fitted
from aucmax.io import model_card, read_metadata
from aucmax.io.models.card import escape_markdown
from aucmax.metrics import roc_auc_interval


def facts_of(
    name: str,
    chosen: dict[str, Any],
    target: str | None,
    problem: Problem | Stream,
    result: Fitted,
) -> dict[str, Any]:
    """Return what is known of a fit, for programs."""
    return {
        "model": name,
        "parameters": chosen,
        "data": problem.source,
        "target": target,
        "rows": problem.n_rows,
        "features": problem.n_features,
        "positives": problem.n_pos,
        "labels": problem.labels._asdict(),
        "auc": None if result.interval is None else result.interval._asdict(),
        "measured": result.how,
        "seconds": round(result.seconds, 3),
    }


def test_facts(model: Any, tested: Problem) -> dict[str, Any]:
    """Return the AUC on test rows."""
    interval = roc_auc_interval(tested.is_pos, score_rows(model, tested.X))
    return {
        "data": tested.source,
        "rows": len(tested.is_pos),
        "positives": int(tested.is_pos.sum()),
        **interval._asdict(),
    }


def card_of(
    model: Any,
    problem: Problem | Stream,
    tested: Problem | None,
    facts: dict[str, Any],
) -> str:
    """Return the card of a model, in Markdown."""
    rows: dict[str, Any] = {}
    if not isinstance(problem, Stream):
        rows = {"X": problem.X, "y": problem.y}
    if tested is not None:
        y_test = model.classes_[tested.is_pos.astype(int)]
        rows |= {"X_test": tested.X, "y_test": y_test}
    notes = [f"Trained by aucmax fit from {escape_markdown(facts['data'])}."]
    if facts["auc"] is not None:
        notes.append(f"AUC {_auc_text(facts['auc'])}, {facts['measured']}.")
    if hasattr(model, "explain"):
        notes.append("\n\n" + escape_markdown(model.explain()))
    out = Path(facts["out"])
    return model_card(
        model, title=out.stem, notes=" ".join(notes), file=out.name, **rows
    )


def _auc_text(found: dict[str, Any]) -> str:
    return interval_text(found["auc"], found["low"], found["high"])


def show_fit(facts: dict[str, Any], model: Any) -> None:
    """Print what is known of a fit."""
    labels = facts["labels"]
    rows = [
        ("model", facts["model"]),
        ("rows", f"{facts['rows']:,}, with {count(facts['features'], 'feature')}"),
        ("positives", f"{facts['positives']:,} ({labels['positive']})"),
    ]
    if facts["auc"] is not None:
        rows.append(("AUC", f"{_auc_text(facts['auc'])}, {facts['measured']}"))
    if "test" in facts:
        tested = facts["test"]
        n_rows = count(tested["rows"], "test row")
        rows.append(("AUC", f"{_auc_text(tested)}, {n_rows}"))
    rows.append(("time", f"{facts['seconds']:.1f} s"))
    rows += [(key, facts[key]) for key in ("out", "card") if key in facts]
    show_columns(rows)
    if hasattr(model, "explain"):
        click.echo(f"\n{model.explain()}")


def tell_trust(out: Path) -> None:
    """Note which types a user has to trust to load the model."""
    if asked := read_metadata(out)["needs_trust"]:
        options = " ".join(f"--trust {each}" for each in asked)
        tell(f"Note: to use {out}, it has to be trusted: {options}.")
