# SPDX-License-Identifier: BSD-3-Clause
"""The plots of the suite's page: ratios to peers, shares of limits, growth."""

from itertools import groupby

from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from aucmax.plots import draw_svg

WIDTH = 9.5
ROW = 0.21
MARGIN = 0.9
# Text, as the page has it; the default of log axes is a formula.
PLAIN = FuncFormatter(lambda x, _: f"{x:,.9g}")
BETTER, WORSE, MISSED = "#0072b2", "#999999", "#d55e00"


def draw_versus(measurements):
    """Return one plot a script: our cost over the peer's, with the range of turns."""

    def draw(group):
        def plot(ax):
            for k, made in enumerate(group):
                color = BETTER if made.ratio <= 1 else WORSE
                color = color if made.holds else MISSED
                ax.plot([made.low, made.high], [k, k], color=color, linewidth=2)
                ax.plot(made.ratio, k, "o", color=color, markersize=5)
                if made.bar is not None:
                    ax.plot(made.bar, k, "|", color="black", markersize=9)
            ax.axvline(1, color="black", linewidth=0.8)
            ax.set_xscale("log")
            plain_logs(ax.xaxis, subs=(1, 2, 5))
            ax.set_xlabel("ours / theirs (left is better; | is the bar)")
            name_rows(ax, [f"{m.what}, {m.where} / {m.against}" for m in group])

        return plot

    return by_script(measurements, draw, "versus", "Our cost over the peer's")


def draw_shares(measurements):
    """Return one plot a script: the share of the limit that our kernels reach."""

    def draw(group):
        def plot(ax):
            for k, made in enumerate(group):
                color = BETTER if made.holds else MISSED
                ax.barh(k, 1 / made.ratio, color=color, height=0.6)
                if made.bar is not None:
                    ax.plot(1 / made.bar, k, "|", color="black", markersize=9)
            ax.axvline(1, color="black", linewidth=0.8)
            ax.set_xlabel("share of the limit (right is better; | is the bar)")
            name_rows(ax, [f"{m.what}, {m.where} / {m.against}" for m in group])

        return plot

    return by_script(measurements, draw, "shares", "Share of the machine's limit")


def draw_growth(measurements):
    """Return one plot for each thing that grows: the cost over it, on log axes."""
    plots = []
    for k, (where, group) in enumerate(
        groupby(sorted(measurements, key=lambda m: m.where), key=lambda m: m.where)
    ):
        group = list(group)

        def plot(ax, group=group, where=where):
            for made in group:
                sizes, costs = zip(*made.curve, strict=True)
                ax.loglog(
                    sizes, costs, "o-", markersize=3,
                    label=f"{made.what}: {made.ratio:.2f}",
                )  # fmt: skip
            plain_logs(ax.xaxis)
            plain_logs(ax.yaxis)
            ax.set_xlabel(where)
            ax.set_ylabel("CPU seconds")
            ax.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1))

        size = (7.0, max(3.0, 0.2 * len(group) + 0.8))
        title = f"Cost over {where}, with the exponent"
        svg = draw_svg(plot, size=size, name=f"growth-{k}", title=title)
        plots.append((where, svg))
    return plots


def by_script(measurements, draw, name, title):
    plots = []
    for script, group in groupby(measurements, key=lambda made: made.script):
        group = list(group)
        svg = draw_svg(
            draw(group),
            size=(WIDTH, MARGIN + ROW * len(group)),
            name=f"{name}-{script}",
            title=f"{title}: {script}",
        )
        plots.append((script, svg))
    return plots


def plain_logs(axis, subs=(1,)):
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(PLAIN)
    axis.set_minor_formatter(NullFormatter())


def name_rows(ax, names):
    ax.set_yticks(range(len(names)), names, fontsize="small")
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.grid(axis="x", alpha=0.4)
