# SPDX-License-Identifier: BSD-3-Clause
"""The results of a run as files: data, a Markdown page, and a web page with plots."""

import json
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import jinja2
from _goals import GOALS
from _plots import draw_growth, draw_shares, draw_versus
from _suite import HEADERS, cells

from aucmax.bench.page import read_part, write_page

HERE = Path(__file__).parent


def write_results(folder, run, changes, *, with_page):
    """Write `results.json` and `RESULTS.md`, and `index.html` where it is wanted."""
    plain = run | {"measurements": [asdict(made) for made in run["measurements"]]}
    write_page(folder / "results.json", json.dumps(plain, indent=1) + "\n")
    write_page(folder / "RESULTS.md", markdown(run))
    if with_page:
        write_page(folder / "index.html", page(run, changes))


def markdown(run):
    lines = ["# Results of the speed suite", "", run_sentence(run), ""]
    lines += ["Made by `make bench`; see [README.md](README.md) for how.", ""]
    lines += ["## Goals", ""]
    lines += table(["goal", "", "bars held"], goal_rows(run), text=2)
    lines += ["", "## Missed bars", ""]
    missed = [made for made in run["measurements"] if not made.holds]
    lines += table(HEADERS[:-1], [cells(made)[:-1] for made in missed], text=3)
    if any(dropped(run)):
        lines += ["", "## Bars that did not count in this run", ""]
        lines += table(DROPPED, dropped(run), text=3)
    if any(left_out(run)):
        lines += ["", "## Left out", "", *(f"- {why}" for why in left_out(run))]
    for script, group in by_script(run):
        lines += ["", f"## `{script}.py`", ""]
        lines += [origin_sentence(run, script), ""]
        lines += table(HEADERS, [[*cells(made), more(made)] for made in group], text=3)
    return "\n".join(lines) + "\n"


def table(headers, rows, *, text):
    """Return lines of a Markdown table whose first columns are text."""
    rows = list(rows)
    n_columns = max([len(headers), *map(len, rows)])
    headers = [*headers, *[""] * (n_columns - len(headers))]
    rule = ["---" if k < text else "--:" for k in range(n_columns)]
    lines = [headers, rule, *([short(cell) for cell in row] for row in rows)]
    return ["| " + " | ".join(line) + " |" for line in lines]


def page(run, changes):
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, loader=jinja2.FileSystemLoader(HERE),
    )  # fmt: skip
    environment.filters["short"] = short
    scripts = [
        {
            "name": script,
            "origin": origin_sentence(run, script),
            "rows": [(cells(made), more(made), made.holds) for made in group],
        }
        for script, group in by_script(run)
    ]
    barred = [made for made in run["measurements"] if made.bar is not None]
    return environment.get_template("page.html.j2").render(
        css=read_part("report.css"),
        run=run,
        sentence=run_sentence(run),
        n_barred=len(barred),
        n_held=sum(made.holds for made in barred),
        missed=[cells(made) for made in barred if not made.holds],
        dropped=list(dropped(run)),
        dropped_headers=DROPPED,
        left_out=list(left_out(run)),
        goals=goal_rows(run),
        changes=changes,
        headers=HEADERS,
        scripts=scripts,
        versus=draw_versus(of_kind(run, "peer")),
        shares=draw_shares(of_kind(run, "limit")),
        growth=draw_growth(of_kind(run, "growth")),
    )


def run_sentence(run):
    machine, versions = run["machine"], run["versions"]
    said = (
        f"Run on {run['date']}{at_commit(run)}: {machine_words(machine)}; "
        f"{version_words(versions)}."
    )
    if run["quick"]:
        said += " **A quick run on tiny sizes: its ratios mean nothing.**"
    if not run["has_data"]:
        said += " Synthetic twins stand for the real data sets."
    if run["failed"]:
        said += f" Failed: {', '.join(run['failed'])}."
    return said


def at_commit(origin):
    return f" at commit {origin['commit']}" if origin.get("commit") else ""


def machine_words(machine):
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, "
        f"Python {machine['python']}"
    )


def version_words(versions):
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def origin_sentence(run, script):
    """Return when and by what the figures of a script were made.

    Of machine and versions, only what differs from the run as a whole is said.
    """
    origin = run["scripts"][script]
    said = f"Run on {origin['date']}{at_commit(origin)}"
    if origin["has_data"] != run["has_data"]:
        said += f", {'with' if origin['has_data'] else 'without'} the real data sets"
    if origin["machine"] != run["machine"]:
        said += f", on {machine_words(origin['machine'])}"
    if origin["versions"] != run["versions"]:
        said += f", with {version_words(origin['versions'])}"
    return f"{said}."


def left_out(run):
    for script, origin in run["scripts"].items():
        for why in origin["left_out"]:
            yield f"{script}: {why}"


def goal_rows(run):
    for number, words in GOALS.items():
        own = [made for made in run["measurements"] if made.goal == number]
        barred = [made for made in own if made.bar is not None]
        n_dropped = sum(made.dropped is not None for made in own)
        held = f"{sum(made.holds for made in barred)} of {len(barred)}"
        if not barred:
            held = "no bar" if own else "not measured"
        if n_dropped:
            held += f", {n_dropped} dropped"
        yield [str(number), words, held]


DROPPED = ["what", "where", "against", "ratio", "bar"]


def dropped(run):
    """Yield a row for each bar that does not count: on twins, or in a quick run."""
    for made in run["measurements"]:
        if made.dropped is not None:
            yield [made.what, made.where, made.against, made.ratio, made.dropped]


def by_script(run):
    return groupby(run["measurements"], key=lambda made: made.script)


def of_kind(run, kind):
    return [made for made in run["measurements"] if made.kind == kind]


def more(made):
    return ", ".join(f"{name} {short(value)}" for name, value in made.details.items())


def short(cell):
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)
