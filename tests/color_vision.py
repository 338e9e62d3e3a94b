# SPDX-License-Identifier: BSD-3-Clause
"""How colours look, also to those who see fewer of them."""

import re

import numpy as np

# Machado, Oliveira and Fernandes (2009), severity 1: linear RGB as three kinds of
# colour blindness see it.
SIGHTS = {
    "full": np.eye(3),
    "no red": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no green": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "no blue": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(color):
    """Linear RGB of "#rrggbb", or of a colour as a browser writes it."""
    if color.startswith("#"):
        parts = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    else:
        parts = [int(part) for part in re.findall(r"\d+", color)[:3]]
    values = np.array(parts) / 255
    return np.where(
        values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4
    )


def contrast(first, second):
    """What WCAG asks to be 4.5 for small text, and 3 for lines."""
    low, high = sorted(TO_XYZ[1] @ linear(color) for color in (first, second))
    return (high + 0.05) / (low + 0.05)


def distance(first, second):
    """Distance in CIELAB, for whoever sees the least of it; 2 is barely seen."""
    return min(
        np.linalg.norm(_lab(sight @ linear(first)) - _lab(sight @ linear(second)))
        for sight in SIGHTS.values()
    )


def _lab(rgb):
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])
