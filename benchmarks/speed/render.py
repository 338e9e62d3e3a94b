# SPDX-License-Identifier: BSD-3-Clause
"""RESULTS.md from results.json: a table for each group."""

from timing import Goal, Row

TITLES = {
    "fits": "Fits",
    "choices": "Paths, chosen kernels, threads",
    "streams": "Streams",
    "scores": "Scores and their AUC",
    "memory": "Peak memory of fits",
    "startup": "Cold start",
    "growth": "Growth with the number of rows",
}
HEADER = ["task", "data", "peer", "us", "them", "ratio", "spread", "AUC", "goal", "met"]
ALIGN = ["---", "---", "---", "--:", "--:", "--:", "--:", "--:", "---", "---"]
SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (0.0, "ns"))


def markdown(results: dict) -> str:
    """Return the page; `results` has the rows and the origin of each group."""
    rows = [row for group in results.values() for row in group["rows"]]
    with_goal = [row for row in rows if row.goal]
    n_met = sum(row.goal.is_met(row) for row in with_goal)
    lines = [
        "# Results of the speed suite",
        "",
        f"{len(rows)} ratios; {n_met} of {len(with_goal)} goals are met. Written by "
        "`make bench`; how to read it is in [README.md](README.md).",
        "",
        *origins(results),
    ]
    for name in filter(results.__contains__, TITLES):
        lines += ["", f"## {TITLES[name]}", "", line(HEADER), line(ALIGN)]
        lines += [line(cells(row)) for row in results[name]["rows"]]
    return "\n".join(lines) + "\n"


def origins(results: dict) -> list[str]:
    """Return a line for each run that groups come from."""
    groups: dict[str, list[str]] = {}
    for name, group in results.items():
        groups.setdefault(group["origin"], []).append(name)
    if len(groups) == 1:
        return [f"Run on {origin}" for origin in groups]
    return [f"- {', '.join(names)}: {origin}" for origin, names in groups.items()]


def cells(row: Row) -> list[str]:
    return [
        f"`{row.task}`",
        row.data,
        row.peer,
        quantity(row.us, row.unit),
        quantity(row.them, row.unit),
        f"{row.ratio:.3g}",
        f"{row.low:.3g} to {row.high:.3g}" if row.low < row.high else "",
        "" if row.auc is None else f"{row.auc:.4f} / {row.peer_auc:.4f}",
        "" if row.goal is None else goal_text(row.goal, row.unit),
        "" if row.goal is None else "yes" if row.goal.is_met(row) else "**no**",
    ]


def goal_text(goal: Goal, unit: str) -> str:
    parts = []
    if goal.ratio is not None:
        parts.append(f"ratio ≤ {goal.ratio:.3g}")
    if goal.us is not None:
        parts.append(f"≤ {quantity(goal.us, unit)}")
    if goal.auc:
        parts.append("AUC no lower")
    return ", ".join(parts)


def quantity(value: float, unit: str) -> str:
    """Return a cost in words: seconds in a fitting unit, others as they are."""
    if not unit.startswith("s"):
        return f"{value:.3g} {unit}".removesuffix(" exponent")
    scale, name = next((scale, name) for scale, name in SCALES if value >= scale)
    return f"{value / (scale or 1e-9):.3g} {name}"


def line(words: list[str]) -> str:
    return f"| {' | '.join(words)} |"
