# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of this folder share."""

from __future__ import annotations

import os
import pathlib
import statistics
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "bench"


def run(*command) -> str:
    """What a command prints; its own last words when it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{sys.argv[0]}: {command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def build(*targets: str) -> pathlib.Path:
    """The folder of an optimised build that has these."""
    if not (BUILD / "build.ninja").exists():
        run("meson", "setup", BUILD, ROOT, "-Dbench=true", "-Dtests=false", "--buildtype=release")
    run("ninja", "-C", BUILD, *targets)
    return BUILD


def pip(folder: pathlib.Path, *packages: str) -> str:
    """A virtual environment with these packages; its python."""
    python = str(folder / "bin" / "python")
    if not (folder / "done").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
        (folder / "done").touch()
    return python


def interval(values: list[float], digits: int) -> str:
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}, {max(values):.{digits}f}]"


def machine(rounds: int) -> str:
    return f"{rounds} rounds; {os.cpu_count()} CPUs; load {os.getloadavg()[0]:.1f}"
