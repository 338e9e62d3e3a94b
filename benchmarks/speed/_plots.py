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
    """Return one plot for each thing that grows and unit: the cost over it, in logs."""

    def axes(made):
        return made.where, made.grows, made.unit

    plots = []
    for k, (names, group) in enumerate(
        groupby(sorted(measurements, key=axes), key=axes)
    ):
        (where, grows, unit), group = names, list(group)

        def plot(ax, group=group, grows=grows, unit=unit):
            for number, made in enumerate(group):
                sizes, costs = zip(*made.curve, strict=True)
                # There are ten colours.
                ax.loglog(
                    sizes, costs, "o-" if number < 10 else "s:", markersize=3,
                    label=f"{made.what}: {made.ratio:.2f}",
                )  # fmt: skip
            # At least a factor of ten, so that what is flat looks flat.
            low, high = ax.get_ylim()
            ax.set_ylim(low, max(high, 10 * low))
            plain_logs(ax.xaxis)
            plain_logs(ax.yaxis, subs=(1, 2, 5))
            ax.set_xlabel(grows)
            ax.set_ylabel(f"CPU {unit}")
            ax.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1))

        size = (7.0, max(3.0, 0.2 * len(group) + 0.8))
        title = f"Cost in {unit} over {grows}, with the exponent: {where}"
        svg = draw_svg(plot, size=size, name=f"growth-{k}", title=title)
        plots.append((f"{where}: {unit} over {grows}", svg))
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
