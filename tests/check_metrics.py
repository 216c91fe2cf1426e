# SPDX-License-Identifier: BSD-3-Clause
"""docs/metrics.md is what `tachograph list --markdown` prints. Usage: check_metrics.py EXE FILE"""

import pathlib
import subprocess
import sys


def main():
    exe, path = sys.argv[1:]
    run = subprocess.run([exe, "list", "--markdown"], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"list failed: {run.stderr}")
    if "tree.cpu_ns" not in run.stdout:
        sys.exit("list does not know tree.cpu_ns")
    if run.stdout != pathlib.Path(path).read_text(encoding="utf-8"):
        sys.exit(f"{path} is old: run `tachograph list --markdown > docs/metrics.md`")


main()
