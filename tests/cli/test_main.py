# SPDX-License-Identifier: BSD-3-Clause
"""What holds for all commands: help, versions, errors, and what is printed where."""

import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import click
import pytest
from cli.command import environment, start
from click.testing import CliRunner

import aucmax
from aucmax.cli._base import split_names
from aucmax.cli._main import main
from aucmax.cli._options import FORMATS
from aucmax.io import load
from aucmax.io.tables import source

HEAVY = {"numpy", "scipy", "sklearn", "numba", "joblib", "pandas", "pyarrow"}


def every_command(command, *names):
    yield names, command
    for name, child in getattr(command, "commands", {}).items():
        yield from every_command(child, *names, name)


COMMANDS = dict(every_command(main))


def invoke(*args):
    return CliRunner().invoke(main, args, prog_name="aucmax")


def test_script_is_installed():
    script = Path(sysconfig.get_path("scripts"), "aucmax")
    done = subprocess.run(
        [script, "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"aucmax {aucmax.__version__}\n"


def test_help_loads_nothing_heavy():
    code = (
        "import sys, contextlib\n"
        "from aucmax.cli._main import main\n"
        "with contextlib.suppress(SystemExit): main(sys.argv[1:])\n"
        "print(*sys.modules)"
    )
    for args in (
        ["--help"],
        ["bench", "run", "--help"],
        ["datasets", "info", "-h"],
        ["fit", "--help"],
        ["compare", "-h"],
    ):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, *args],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "Examples:" in done.stdout
        assert HEAVY.isdisjoint(done.stdout.split())


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_examples_that_exist(names):
    result = invoke(*names, "--help")
    assert result.exit_code == 0
    assert "Usage: aucmax" in result.output
    lines = result.output.partition("Examples:\n")[2].splitlines()
    assert lines
    for line in lines:
        words = [w for w in line.split() if w != "--debug"]
        assert words[0] == "aucmax"
        assert words[1 : 1 + len(names)] == list(names)
        # By its longest name, of one word or of two.
        command = [c for n, c in COMMANDS.items() if [*n] == words[1 : 1 + len(n)]][-1]
        known = {word for param in command.params for word in param.opts}
        # One dash alone is the standard input.
        given = {word for word in words if word.startswith("-")} - {"-"}
        assert given <= known | {"--json"}


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_short_help_fits_on_a_line(names):
    short = COMMANDS[names].get_short_help_str(60)
    assert short
    assert not short.endswith("...")


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_every_option_says_what_it_does(names):
    for option in COMMANDS[names].params:
        if isinstance(option, click.Option):
            assert option.help.endswith(".")


@pytest.mark.parametrize(
    "args",
    [
        ["nothing"],
        ["bench", "nothing"],
        ["bench", "run"],
        ["bench", "run", "gao2013", "--jobs", "0"],
        ["bench", "run", "gao2013", "--nothing"],
        ["datasets", "info"],
        ["fit"],
        ["fit", "a.csv", "--target", "y", "--seed", "-1"],
        ["fit", "a.csv", "--target", "y", "--cv", "1"],
        ["predict", "a.skops"],
        ["evaluate", "a.skops", "a.csv", "--target", "y", "--plot", "roc.gif"],
        ["evaluate", "a.skops", "a.csv", "--target", "y", "--max-fpr", "0"],
        ["evaluate", "a.skops", "a.csv", "--target", "y", "--costs", "1"],
        ["evaluate", "a.skops", "a.csv", "--target", "y", "--costs", "0,0"],
        ["evaluate", "a.skops", "a.csv", "--target", "y", "--max-fpr", "nan"],
        ["evaluate", "a.skops", "a.csv", "--target", "y", "--costs", "1,nan"],
        ["evaluate", "a.skops", "a.csv", "--target", "y", "--costs", "nan,1"],
        ["evaluate", "a.skops", "a.csv", "--target", "y", "--costs", "1,-1"],
        ["evaluate", "a.skops", "a.csv", "--target", "y", "--costs", "1,inf"],
        ["evaluate", "a.skops", "a.csv", "--target", "y", "--format", "xls"],
        ["evaluate", "a.skops", "a.csv", "--target", "y", "--separator", "--"],
        ["fit", "a.csv", "--target", "y", "--time-budget", "nan"],
        ["fit", "a.csv", "--target", "y", "--time-budget", "inf"],
        ["compare", "a.csv", "--models", "auto", "--time-budget", "nan"],
        ["compare", "a.csv", "--target", "y", "--models", "svc", "--cv", "1"],
    ],
)
def test_wrong_usage_ends_with_two_and_a_hint(args):
    result = invoke(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: aucmax" in result.stderr
    assert "Error: " in result.stderr


def test_formats_are_those_of_the_library():
    assert FORMATS == source.FORMATS


@pytest.fixture
def fail(monkeypatch):
    """Return a function that runs a command which raises an error."""

    def fail(error, *options):
        @click.command()
        def command():
            raise error

        monkeypatch.setitem(main.commands, "fail", command)
        return invoke(*options, "fail")

    return fail


def test_error_is_one_sentence(fail):
    result = fail(ValueError("This is wrong. Do that."))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: This is wrong. Do that.\n"


@pytest.mark.parametrize(
    ("error", "words"),
    [(MemoryError(), "MemoryError"), (KeyError("name"), "KeyError: 'name'")],
)
def test_error_that_nobody_foresaw_has_its_name_and_a_way_to_see_more(
    fail, error, words
):
    result = fail(error)
    assert (result.exit_code, result.stdout) == (1, "")
    assert words in result.stderr
    assert "--debug" in result.stderr
    assert "Traceback" not in result.stderr


def test_debug_lets_the_error_through(fail):
    result = fail(ValueError("This is wrong."), "--debug")
    assert result.exit_code == 1
    assert isinstance(result.exception, ValueError)


def test_interrupt(fail):
    result = fail(KeyboardInterrupt())
    assert (result.exit_code, result.stdout) == (130, "")
    assert "Resume with the same command" in result.stderr


def test_interrupt_while_arguments_are_read(monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "parse_args", stop)
    result = invoke("--help")
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "\nStopped.\n"


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_interrupt_while_the_command_is_imported(tmp_path):
    (tmp_path / "click.py").write_text(
        "import sys, time\nprint('here', flush=True)\ntime.sleep(60)\n"
    )
    process = start("--help", folder=tmp_path, PYTHONPATH=search_path(tmp_path))
    assert process.stdout.readline() == "here\n"
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "\nStopped.\n"


def search_path(first):
    others = os.environ.get("PYTHONPATH", "")
    return os.pathsep.join([str(first), *others.split(os.pathsep)])


def in_shell(command, folder):
    """Run a command line, in which aucmax is the command of this environment."""
    line = command.replace("aucmax ", f"{sys.executable} -m aucmax.cli ")
    return subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_streams_that_are_closed(folder):
    done = in_shell("aucmax predict loans.skops new.csv >&-", folder)
    assert done.returncode == 1
    assert done.stderr == (
        "Error: The standard output is closed. Name a file with --out.\n"
    )
    done = in_shell("aucmax fit - --target late <&-", folder)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: The standard input is closed. ")
    fit = "aucmax fit loans.csv --target late --model ranksvm --cv 0 --out new.skops"
    done = in_shell(f"{fit} <&- >&- 2>&-", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert load(folder / "new.skops").n_features_in_ == 5


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_no_file_gets_the_number_of_a_closed_stream(tmp_path):
    code = (
        "import os, sys; sys.argv[1:] = ['--version']; import aucmax.cli\n"
        "try: aucmax.cli.main()\n"
        "finally: os.write(2, str(os.open('new', os.O_CREAT)).encode())"
    )
    done = subprocess.run(
        ["sh", "-c", f'{sys.executable} -c "{code}" <&- >&-'],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stderr) > 2


@pytest.mark.skipif(os.name != "posix", reason="needs a pipe that ends early")
@pytest.mark.parametrize("command", ["--help", "--version", "datasets list"])
def test_reader_that_ends_early_is_no_error(command):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "aucmax.cli", *command.split()],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    assert done.stderr == ""
    # What a shell says of a process that SIGPIPE has ended.
    assert done.returncode == 128 + signal.SIGPIPE


KNOWN = ("skin", "skin, all rows", "usps", "a")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], None),
        (["a,usps"], ["a", "usps"]),
        ([" a , usps,"], ["a", "usps"]),
        (["a", "usps"], ["a", "usps"]),
        (["skin"], ["skin"]),
        (["skin, all rows"], ["skin, all rows"]),
        (["a,skin,all rows,skin"], ["a", "skin, all rows", "skin"]),
        (["x,a"], ["x", "a"]),
    ],
)
def test_names_with_and_without_commas(texts, expected):
    assert split_names(texts, KNOWN) == expected


def test_no_name_at_all_is_told():
    with pytest.raises(click.UsageError, match=r"at least one name of: skin, .*usps"):
        split_names([" ,"], KNOWN)
