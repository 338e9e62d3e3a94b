# SPDX-License-Identifier: BSD-3-Clause
"""The AUC of several models over time, with the spread over runs."""

from collections.abc import Mapping
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import FloatArray

# Apart for all readers, also in grey; then matplotlib's own colours.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#8C6D1F", "#555555")
# Least part of the AUC's range that the axes show.
SMALLEST_SPAN = 0.05
# Multiples of the powers of ten that get a number, by how many powers there are.
BETWEEN = ((2.0, (1.0, 2.0, 5.0)), (4.0, (1.0, 3.0)), (np.inf, (1.0,)))
# Distance of names at the ends of lines, in lines of text.
NAME_HEIGHT = 1.2


class Curve(Protocol):
    """What is drawn, such as :class:`aucmax.metrics.MeanCurve`."""

    @property
    def n_rows(self) -> NDArray[Any]:
        """Rows seen at each point."""
        ...

    @property
    def mean(self) -> NDArray[Any]:
        """The AUC there, over the runs."""
        ...

    @property
    def std(self) -> NDArray[Any]:
        """Its standard deviation."""
        ...


class CurveDisplay:
    """Lines of the mean AUC over the rows seen, in bands of one standard deviation.

    Make one with :meth:`from_curves`. Where the AUC is NaN the lines have gaps.

    Parameters
    ----------
    curves : dict of str to curve
        By the names of the models, what :func:`aucmax.metrics.online_curves`
        returns: ``n_rows``, ``mean`` and ``std``, arrays of one length each.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        The lines.
    bands_ : dict of str to matplotlib collection
        The bands; empty without.
    names_ : dict of str to matplotlib Annotation
        The names at the ends of the lines; empty with a legend.
    ax_ : matplotlib Axes
        The axes with the lines.
    figure_ : matplotlib Figure
        The figure with the axes.

    See Also
    --------
    aucmax.metrics.online_curves : Makes the curves.
    StreamDisplay : The AUC on new rows.

    Examples
    --------
    Two models in 20 orders of the rows::

        models = {"KNNOAM": KNNOAM(), "OPAUC": OPAUC(solver="gradient")}
        curves = online_curves(models, X, y, random_state=0)
        CurveDisplay.from_curves(curves).figure_.savefig("curves.png")
    """

    lines_: dict[str, Any]
    bands_: dict[str, Any]
    names_: dict[str, Any]
    ax_: Any
    figure_: Any

    def __init__(self, curves: Mapping[str, Curve]) -> None:
        self.curves = dict(curves)
        if not self.curves:
            raise ValueError("There is no curve to plot. Pass at least one.")
        for name, curve in self.curves.items():
            shapes = {np.shape(part) for part in (curve.n_rows, curve.mean, curve.std)}
            if len(shapes) > 1 or len(shapes.pop()) != 1:
                raise ValueError(
                    f"The curve of {name!r} must have one number of rows, one mean and "
                    "one standard deviation for each point."
                )

    @classmethod
    def from_curves(
        cls,
        curves: Mapping[str, Curve],
        *,
        ax: Any = None,
        x_scale: str = "log",
        names: str = "direct",
        band: bool = True,
    ) -> Self:
        """Plot curves.

        Parameters
        ----------
        curves : dict of str to curve
            What :func:`aucmax.metrics.online_curves` returns.
        ax, x_scale, names, band
            As in :meth:`plot`.

        Returns
        -------
        display : CurveDisplay
            With the lines drawn.
        """
        return cls(curves).plot(ax, x_scale=x_scale, names=names, band=band)

    def plot(
        self,
        ax: Any = None,
        *,
        x_scale: str = "log",
        names: str = "direct",
        band: bool = True,
    ) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        x_scale : {"log", "linear"}, default="log"
            Scale of the numbers of rows.
        names : {"direct", "legend", "none"}, default="direct"
            Where the models are named: at the ends of their lines, in a legend, or
            nowhere.
        band : bool, default=True
            Whether to show one standard deviation on either side of the mean.

        Returns
        -------
        self : CurveDisplay
            The same object, with ``lines_``, ``bands_``, ``names_``, ``ax_`` and
            ``figure_``.
        """
        _check_option("x_scale", x_scale, ("log", "linear"))
        _check_option("names", names, ("direct", "legend", "none"))
        if ax is None:
            pyplot = import_optional("matplotlib.pyplot", "plot")
            _, ax = pyplot.subplots(figsize=(7.0, 4.2), layout="constrained")
        self.lines_, self.bands_, self.names_ = {}, {}, {}
        for i, (name, curve) in enumerate(self.curves.items()):
            color = COLORS[i] if i < len(COLORS) else f"C{i}"
            n_rows, mean = np.asarray(curve.n_rows), np.asarray(curve.mean)
            (self.lines_[name],) = ax.plot(
                n_rows, mean, color=color, linewidth=1.8, label=name
            )
            if band:
                low, high = mean - curve.std, np.minimum(mean + curve.std, 1.0)
                self.bands_[name] = ax.fill_between(
                    n_rows, low, high, color=color, alpha=0.13, linewidth=0
                )
        self._style_axes(ax, x_scale, names)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _style_axes(self, ax: Any, x_scale: str, names: str) -> None:
        """Set scales, limits and texts."""
        ax.set(xlabel="Rows seen, t", ylabel="AUC over rows 1 to t", xscale=x_scale)
        ax.grid(axis="y", color="0.92")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        points = np.concatenate([np.asarray(c.n_rows) for c in self.curves.values()])
        first, last = points.min(), max(points.max(), points.min() + 1)
        ax.set_xlim(first, last)
        if x_scale == "log":
            _mark_powers(ax.xaxis, np.log10(last / first))
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.set_ylim(*self._limits())
        if names == "legend":
            ax.legend(loc="best", edgecolor="none")
        elif names == "direct":
            self._name_ends(ax)

    def _limits(self) -> tuple[float, float]:
        """Show all means; bands only as far as they are not several times as wide."""
        means = np.concatenate([np.asarray(c.mean) for c in self.curves.values()])
        stds = np.concatenate([np.asarray(c.std) for c in self.curves.values()])
        is_known = np.isfinite(means)
        if not is_known.any():
            return 0.0, 1.0
        means, stds = means[is_known], np.nan_to_num(stds[is_known])
        span = max(SMALLEST_SPAN, float(np.ptp(means)))
        low = (
            max(means.min() - span, (means - stds).min())
            if self.bands_
            else means.min()
        )
        high = min(1.0, (means + stds).max() if self.bands_ else means.max())
        pad = max(0.04 * (high - low), 0.5 * (SMALLEST_SPAN - (high - low)))
        return float(low - pad), float(
            min(high + pad, 1.0 + 0.05 * (high - low) + 1e-3)
        )

    def _name_ends(self, ax: Any) -> None:
        """Write the names at the right, as near to the ends as they are readable."""
        ends = {}
        for name, curve in self.curves.items():
            known = np.asarray(curve.mean)[np.isfinite(curve.mean)]
            if len(known):
                ends[name] = float(known[-1])
        if not ends:
            return
        low, high = ax.get_ylim()
        size = 9.0
        height = ax.get_window_extent().height / ax.figure.dpi * 72.0
        gap = NAME_HEIGHT * size / height * (high - low)
        # Where ends are equal, the first is above.
        order = sorted(ends, key=lambda name: ends[name], reverse=True)[::-1]
        places = _space_out(np.array([ends[name] for name in order]), gap, low, high)
        for name, place in zip(order, places, strict=True):
            self.names_[name] = ax.annotate(
                name,
                (1.0, place),
                xycoords=("axes fraction", "data"),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=size,
                color=self.lines_[name].get_color(),
                annotation_clip=False,
            )


def _mark_powers(axis: Any, n_decades: float) -> None:
    """Put numbers at the powers of ten, and between them where these are few."""
    ticker = import_optional("matplotlib.ticker", "plot")
    between = next(subs for most, subs in BETWEEN if n_decades <= most)
    axis.set_major_locator(ticker.LogLocator(subs=between))
    axis.set_minor_formatter(ticker.NullFormatter())


def _space_out(wanted: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Return places at least ``gap`` apart, nearest to those wanted, which increase."""
    # Less their least distances, the places must not decrease: the nearest such
    # sequence pools neighbours that are in the wrong order.
    steps = gap * np.arange(len(wanted))
    pools: list[list[float]] = []
    for value in wanted - steps:
        pools.append([value, 1.0])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, size = pools.pop()
            other, count = pools[-1]
            pools[-1] = [(mean * size + other * count) / (size + count), size + count]
    places = np.concatenate([np.full(int(size), mean) for mean, size in pools])
    # Inside the axes while there is room.
    low, high = low + 0.5 * gap, high - 0.5 * gap
    return np.asarray(np.clip(places, low, max(high - steps[-1], low)) + steps)


def _check_option(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        options = ", ".join(repr(option) for option in known)
        raise ValueError(f"{name}={value!r} is not known. Pass one of {options}.")
