# SPDX-License-Identifier: BSD-3-Clause
"""Two directives that run what they show, so that pages cannot drift from the code.

``executed`` runs Python, in one namespace per page, and shows what was printed and the
figures that were made. ``shell`` runs commands, in one scratch folder per page, which
has a copy of ``examples``. Both fail the build when what they run fails. ``:hide:``
leaves out the code, ``:wrap:`` breaks long lines, ``:alt:`` describes the figure.
"""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, ClassVar

import matplotlib as mpl
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
FIGURES = "generated/figures"
# Names in SVG files that do not change from build to build.
mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "aucmax"


class Shown(SphinxDirective):
    """What both have in common."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "alt": directives.unchanged_required,
        "hide": directives.flag,
        "wrap": directives.flag,
    }

    def block(self, text: str, language: str) -> nodes.literal_block:
        """Return text as a block of code."""
        block = nodes.literal_block(text, text, language=language)
        self.set_source_info(block)
        return block

    def image(self, name: str) -> nodes.image:
        """Return a figure out of the folder of figures."""
        if "alt" not in self.options:
            raise self.error("A figure needs :alt:, which says what it shows.")
        return nodes.image(uri=f"/{FIGURES}/{name}", alt=self.options["alt"])

    def figure_path(self, name: str) -> Path:
        """Return where a figure is written."""
        folder = Path(self.env.srcdir, FIGURES)
        folder.mkdir(parents=True, exist_ok=True)
        return folder / name


class Executed(Shown):
    """Python that runs."""

    def run(self) -> list[nodes.Node]:
        """Run the code and return nodes."""
        from matplotlib import pyplot  # noqa: PLC0415  (after the choice of backend)

        code = "\n".join(self.content)
        names = self.env.temp_data.setdefault("executed", {"__name__": "page"})
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(code, self.env.docname, "exec"), names)
        except Exception:
            raise self.error(f"The code failed:\n{traceback.format_exc()}") from None
        shown: list[nodes.Node] = []
        if "hide" not in self.options:
            shown.append(self.block(code, "python"))
        if text := printed.getvalue().rstrip():
            shown.append(self.block(text, "text"))
            shown[-1]["classes"] += ["output"] + ["wrap"] * ("wrap" in self.options)
        for number in pyplot.get_fignums():
            count = self.env.new_serialno("figure")
            name = f"{self.env.docname.replace('/', '-')}-{count}.svg"
            pyplot.figure(number).savefig(self.figure_path(name))
            pyplot.close(number)
            shown.append(self.image(name))
        return shown


class Shell(Shown):
    """Commands, one per line; ``:image:`` names a file they make, to be shown."""

    option_spec: ClassVar[dict[str, Any]] = {
        **Shown.option_spec,
        "image": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Run the commands and return nodes."""
        lines: list[str] = []
        for command in self.content:
            lines.append(f"$ {command}")
            lines += self.call(command).splitlines()
        shown: list[nodes.Node] = []
        if "hide" not in self.options:
            shown.append(self.block("\n".join(lines), "console"))
            shown[-1]["classes"] += ["wrap"] * ("wrap" in self.options)
        if name := self.options.get("image"):
            shutil.copy(self.folder() / name, self.figure_path(name))
            shown.append(self.image(name))
        return shown

    def call(self, command: str) -> str:
        """Return what a command writes, on both channels, as on a terminal."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            command,
            shell=True,
            cwd=self.folder(),
            env=os.environ | {"PATH": path, "COLUMNS": "80", "MPLBACKEND": "svg"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        if done.returncode:
            raise self.error(f"{command} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout.replace(f"{self.folder()}{os.sep}", "").rstrip()

    def folder(self) -> Path:
        """Return the scratch folder of the page."""
        scratch = self.env.temp_data.get("scratch")
        if scratch is None:
            scratch = tempfile.TemporaryDirectory(prefix="aucmax-docs-")
            self.env.temp_data["scratch"] = scratch
            shutil.copytree(ROOT / "examples", Path(scratch.name, "examples"))
        return Path(scratch.name)


def setup(app: Any) -> dict[str, bool]:
    """Offer the directives to Sphinx."""
    app.add_directive("executed", Executed)
    app.add_directive("shell", Shell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
