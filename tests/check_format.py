# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-format over the C files: check_format.py CLANG_FORMAT SOURCE_ROOT.

Says which files differ and how to put them right. Versions disagree, so it is always the one given.
"""

import pathlib
import subprocess
import sys

tool, root = sys.argv[1], pathlib.Path(sys.argv[2])
files = sorted(path for folder in ("src", "tests", "bench") for path in (root / folder).rglob("*.[ch]"))
if not files:
    sys.exit("no C files found: wrong folder?")
result = subprocess.run([tool, "--dry-run", "-Werror", "-style=file", *files], cwd=root,
                        capture_output=True, text=True)
bad = sorted({line.split(":")[0] for line in result.stderr.splitlines() if ": error:" in line})
if bad:
    print("run:", tool, "-i", *(pathlib.Path(path).relative_to(root) for path in bad))
sys.exit(result.returncode)
