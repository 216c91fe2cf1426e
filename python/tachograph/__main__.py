# SPDX-License-Identifier: BSD-3-Clause
"""`python -m tachograph …` becomes the executable: same process, same signals."""

from __future__ import annotations

import os
import sys

from . import _exe


def main() -> int:
    args = sys.argv[1:]
    if args[:1] in (["install"], ["uninstall"]):
        from . import install

        return install.main(args)
    exe = _exe.find()
    if exe is None:
        print("tachograph: the executable is not installed beside this package and not on PATH",
              file=sys.stderr)
        return 127
    if args[:1] == ["kernel"]:  # in front: one that is said goes before, and the end is not ours
        args[1:1] = ["--python", sys.executable]
    try:
        os.execv(exe, [exe, *args])
    except OSError as error:
        print(f"tachograph: cannot start {exe}: {error.strerror}", file=sys.stderr)
        return 126


if __name__ == "__main__":
    sys.exit(main())
