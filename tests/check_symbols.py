# SPDX-License-Identifier: BSD-3-Clause
"""Looks into libtg: every exported symbol is tg_…, and there are no global variables but two.

Usage: check_symbols.py OBJDUMP LIBTG. Exit status 77 (skipped) for a build with sanitizers or
coverage, which add symbols of their own.
"""

import re
import subprocess
import sys

# address, flag characters in fixed columns, section, size, name
ROW = re.compile(r"^[0-9a-f]{8,16} (.{7}) (\S+)\s+([0-9a-f]{8,16})(?: \.hidden)? (.+)$")
WRITABLE = re.compile(r"\.(data|bss|tdata|tbss)(\..*)?$|\*COM\*$")
GLOBALS = {
    "max_level",  # base/log.c: the log level is the one setting of the process
    "tg_buf_empty",  # base/buf.c: the text of every empty buffer, never written
}


def main() -> int:
    table = subprocess.run([sys.argv[1], "-t", sys.argv[2]], check=True, capture_output=True,
                           text=True).stdout
    if re.search(r"__(asan|tsan|ubsan|gcov)_", table):
        print("skipped: instrumented build")
        return 77
    rows = [match.groups() for match in map(ROW.match, table.splitlines()) if match]
    exported = {name for flags, section, _, name in rows if flags[0] in "gu" and section != "*UND*"}
    faults = [f"{name} is exported and is not tg_…" for name in sorted(exported)
              if not name.startswith(("tg_", "LLVMFuzzer"))]
    for flags, section, size, name in rows:
        if (WRITABLE.match(section) and not section.startswith(".data.rel.ro") and int(size, 16)
                and "d" not in flags and name.split(".")[0] not in GLOBALS):
            faults.append(f"{name} is a global variable ({section})")
    if not any(name.startswith("tg_") for name in exported):
        faults.append("no tg_ symbol found: wrong library?")
    print(*faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
