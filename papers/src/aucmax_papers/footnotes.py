# SPDX-License-Identifier: BSD-3-Clause
"""What has to be said below a table: of its sets, its methods, and single cells."""

from collections.abc import Iterable

from aucmax_papers.cells import Ours
from aucmax_papers.protocol import Method, Paper, Printed, SetUse, Table
from aucmax_papers.tasks import merge_limits

UNTUNED = "Ours is our estimator as it comes, not tuned by the paper's grid."
# How the notes of printed figures begin that the paper did not make itself.
TAKEN = "taken by that paper from"
# A note that says what goes without saying.
OWN_RUNS = "own runs"
VARIANTS = {"published": "Tuned", "default": "Untuned"}


class Notes:
    """Footnotes, numbered as they come, equal ones once."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def add(self, *texts: str) -> tuple[str, ...]:
        """Return the keys of these texts, without those that are empty."""
        keys = []
        for text in filter(None, texts):
            known = {t: key for key, t in self.texts.items()}
            key = known.get(text, str(len(self.texts) + 1))
            self.texts[key] = text
            keys.append(key)
        return tuple(dict.fromkeys(keys))


def set_texts(paper: Paper, table: Table, name: str) -> tuple[str, ...]:
    """Return what is to be said of a set: what it is, and how its models were tuned."""
    use = paper.sets[name]
    limits = describe_tuning(use)
    has_tuned = any(is_tuned(paper.methods[m]) for m in table.methods)
    return use.why, f"Tuned on {limits}." if limits and has_tuned else ""


def method_texts(paper: Paper, table: Table, method: Method) -> tuple[str, ...]:
    """Return what is to be said of a method on all sets of a table."""
    source = method.copied
    copied = f"The paper took this column from {source}; ours are the runs of that one."
    untuned = method.headline == "default" and not source
    return (
        copied if source else "",
        UNTUNED if untuned else "",
        method.note,
        _own_limits(method, [paper.sets[s] for s in table.sets]),
        _whole(
            _printed_text(printed, method)
            for (t, _, m, _), printed in paper.printed.items()
            if (t, m) == (table.name, method.printed)
        ),
    )


def cell_text(method: Method, printed: Printed | None) -> str:
    """Return what is to be said of a cell, which its column may have said already."""
    return _printed_text(printed, method) if printed else ""


def describe_tuning(use: SetUse) -> str:
    """Return on how little the models of a set are tuned; nothing if on all.

    Examples
    --------
    >>> from aucmax_papers.footnotes import describe_tuning
    >>> from aucmax_papers.protocol import SetUse
    >>> describe_tuning(SetUse("a9a", tune_rows=4000, n_inner_used=2))
    'at most 4,000 training rows and 2 of 5 inner folds'
    """
    n_folds, n_repeats = use.n_inner_folds, use.n_inner_repeats
    every = n_folds * n_repeats
    parts = [f"at most {use.tune_rows:,} training rows"] if use.tune_rows else []
    if 0 < use.n_inner_used < every:
        parts.append(f"{use.n_inner_used} of {every} inner folds")
    elif n_repeats > 1:
        parts.append(f"{n_folds} inner folds, drawn {n_repeats} times")
    return " and ".join(parts)


def is_tuned(method: Method) -> bool:
    """Say whether one of its variants is chosen by a grid, and by us."""
    has_grid = "published" in method.variants and len(method.candidates()) > 1
    return has_grid and not method.copied


def is_taken(printed: Printed | None) -> bool:
    """Say whether the paper took a figure from elsewhere."""
    return printed is not None and printed.note.startswith(TAKEN)


def describe_trouble(ours: Ours, variant: str, headline: str) -> str:
    """Say what went wrong in some runs, if anything."""
    n, n_failed = ours.n_tried, ours.n_failed
    parts = []
    if ours.n_diverged:
        parts.append(
            f"{ours.n_diverged} of {n} runs diverged and count as an AUC of 0.5"
        )
    if n_failed and n_failed == n:
        parts.append("the only run failed" if n == 1 else f"all {n} runs failed")
    elif n_failed:
        parts.append(f"{n_failed} of {n} runs failed and are left out")
    if not parts:
        return ""
    text = f"{'; '.join(parts)}: {ours.error}"
    if variant != headline:
        return f"{VARIANTS[variant]}, {text}"
    return text[0].upper() + text[1:]


def _own_limits(method: Method, uses: Iterable[SetUse]) -> str:
    """Say how a method was tuned, if on less than its sets say."""
    if not is_tuned(method):
        return ""
    pairs = [(use, merge_limits(use, method)) for use in uses]
    parts = []
    if any(limited.tune_rows != use.tune_rows for use, limited in pairs):
        parts.append(f"{method.tune_rows:,} training rows")
    if any(limited.n_inner_used != use.n_inner_used for use, limited in pairs):
        n = method.n_inner_used
        parts.append(f"{n} inner fold{'s' * (n > 1)}")
    return f"{method.name}: tuned on at most {' and '.join(parts)}." if parts else ""


def _printed_text(printed: Printed, method: Method) -> str:
    if is_taken(printed):
        # Of a copied column the first note says so.
        text = f"The paper's figure is {printed.note}, and does not count."
        return "" if method.copied else text
    return "" if printed.note in ("", OWN_RUNS) else f"In the paper: {printed.note}."


def _whole(texts: Iterable[str]) -> str:
    """Return the text that is the same all along a column, if it is."""
    found = set(texts)
    return found.pop() if len(found) == 1 else ""
