# SPDX-License-Identifier: BSD-3-Clause
"""Where the executable is: it came with this package, so next to it before anywhere on PATH."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator


def _folders() -> Iterator[str]:
    """The folders an installer may have put scripts into, the likeliest first."""
    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", vars={"base": sys.base_prefix})
    here = os.path.dirname(os.path.abspath(__file__))
    site = os.path.dirname(here)
    yield os.path.join(site, "bin")  # pip install --target DIR
    yield os.path.join(site, "..", "..", "..", "bin")  # pip install --prefix DIR
    yield sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user"))


def find() -> str | None:
    """The absolute path of `tachograph`, or None where this installation has none."""
    for folder in _folders():
        path = os.path.normpath(os.path.join(folder, "tachograph"))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    found = shutil.which("tachograph")
    return found and os.path.abspath(found)  # PATH may hold relative folders
