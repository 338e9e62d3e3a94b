# SPDX-License-Identifier: BSD-3-Clause
"""The online methods as the papers have them, with grids, and our defaults of each.

A method is how to make it, its grid, and how to make the default. The papers' constant
multiplies |w|^2 / 2 beside half the mean of the squares, so alpha is twice theirs.
"""

from aucmax import OAM, OPAUC, AdaOAM, OnlineUnivariate


def powers(low, high, step=1):
    return [2.0**k for k in range(low, high + 1, step)]


ALPHAS = [2 * value for value in powers(-10, 2, 4)]


def opauc(step_size, alpha):
    return OPAUC(alpha, solver="gradient", step_size=step_size, random_state=0)


def ada_oam(step_size, alpha):
    return AdaOAM(alpha, step_size=step_size, random_state=0)


def oam_sequential(step_size):
    return OAM(update="sequential", step_size=step_size, average=False, random_state=0)


def oam_gradient(step_size):
    return OAM(update="gradient", step_size=step_size, average=False, random_state=0)


def uni_exp(step_size, alpha):
    return OnlineUnivariate(
        loss="exponential",
        alpha=alpha,
        step_size=step_size,
        center=False,
        average=False,
        random_state=0,
    )


METHODS = {
    "OPAUC": (
        opauc,
        # Longer steps on the penalty alone diverge.
        [
            {
                "step_size": [s for s in powers(-14, 4) if s * alpha < 2],
                "alpha": [alpha],
            }
            for alpha in ALPHAS
        ],
        lambda: OPAUC(solver="gradient", random_state=0),
    ),
    "AdaOAM": (
        ada_oam,
        {"step_size": powers(-10, 4), "alpha": ALPHAS},
        lambda: AdaOAM(random_state=0),
    ),
    # The published grid ends at 2^-10, where most optima lie.
    "OAMseq": (
        oam_sequential,
        {"step_size": powers(-16, 6)},
        lambda: OAM(random_state=0),
    ),
    "OAMgra": (
        oam_gradient,
        {"step_size": powers(-16, 6)},
        lambda: OAM(update="gradient", random_state=0),
    ),
    "online Uni-Exp": (
        uni_exp,
        {"step_size": powers(-12, 4), "alpha": [2 * 2.0**-10, 2 * 2.0**-6, 0.5]},
        lambda: OnlineUnivariate(loss="exponential", random_state=0),
    ),
}
