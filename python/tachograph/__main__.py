# SPDX-License-Identifier: BSD-3-Clause
"""`python -m tachograph …` becomes the executable: same process, same signals."""

import os
import sys
import sysconfig


def main() -> None:
    exe = os.path.join(sysconfig.get_path("scripts"), "tachograph")
    os.execv(exe, [exe, *sys.argv[1:]])


if __name__ == "__main__":
    main()
