# SPDX-License-Identifier: BSD-3-Clause
"""docs/metrics.md is what `tachograph list --markdown` prints, and src/ names no other metric but
those of docs/import.md, which logs of other tools have.

Usage: check_metrics.py EXE FILE SRC
"""

import pathlib
import re
import subprocess
import sys


def main():
    exe, path, src = sys.argv[1:]
    run = subprocess.run([exe, "list", "--markdown"], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"list failed: {run.stderr}")
    if "tree.cpu_ns" not in run.stdout:
        sys.exit("list does not know tree.cpu_ns")
    if run.stdout != pathlib.Path(path).read_text(encoding="utf-8"):
        sys.exit(f"{path} is old: run `tachograph list --markdown > docs/metrics.md`")
    imported = pathlib.Path(path).with_name("import.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^\| `([a-z.0-9_]+)`", run.stdout + imported, re.M))
    for file in sorted(pathlib.Path(src).rglob("*.c")):
        used = set(re.findall(r'"([a-z]+\.[a-z0-9]+_[a-z0-9_]+)"', file.read_text(encoding="utf-8")))
        if file.parent.name != "sample" and used - known:
            sys.exit(f"{file}: no source gives {', '.join(sorted(used - known))}")


main()
