#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A recorded kernel under load: soak.py SECONDS.

Runs cells of every kind through the kernel `tachograph` and watches the memory and the descriptors
of our own processes. After a quarter of the time nothing may grow by more than a stated bound.
"""

import pathlib
import sys
import time

from jupyter_client.manager import KernelManager

CELLS = [
    "1 + 1",
    "for i in range(200): print(i)",
    "import subprocess; subprocess.run(['true']).returncode",
    "kept = [bytes(1 << 20) for _ in range(20)]; del kept",
    "1 / 0",
    "%tacho show --span last",
    "%tacho chart --span last",
]
GROWTH_KB = 16 << 10  # allocators breathe; a leak of 1 KiB a cell would pass this within minutes
OURS = ("kernel", "recorder")  # roles of the executable, argv[1]; a worker comes and goes


def ours(root: int) -> dict[str, tuple[int, int]]:
    """Role: memory in KiB and descriptors, of our long-lived processes of this session."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            argv = (entry / "cmdline").read_bytes().split(b"\0")
            if len(argv) < 2 or pathlib.Path(argv[0].decode()).name not in ("tachograph", "tacho"):
                continue
            role = argv[1].decode()
            started_by_us = int(entry.name) == root if role == "kernel" else int(entry.name) > root
            if role in OURS and started_by_us:
                status = (entry / "status").read_text()
                rss = int(status.split("VmRSS:")[1].split()[0])
                found[role] = rss, len(list((entry / "fd").iterdir()))
        except (OSError, IndexError, UnicodeDecodeError):
            continue  # gone meanwhile
    return found


def main() -> int:
    seconds = float(sys.argv[1])
    manager = KernelManager(kernel_name="tachograph")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    start, cells, base = time.monotonic(), 0, None
    try:
        while time.monotonic() - start < seconds:
            reply = client.execute_interactive(CELLS[cells % len(CELLS)], timeout=60,
                                               output_hook=lambda message: None,
                                               stop_on_error=False)
            assert reply["content"]["status"] in ("ok", "error")
            cells += 1
            if base is None and time.monotonic() - start > seconds / 4:
                base = ours(manager.provisioner.pid)
        last = ours(manager.provisioner.pid)
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
    print(f"{cells} cells in {seconds:.0f} s")
    grown = [] if base and set(base) == set(last) == set(OURS) else [
        f"processes changed: {base} then {last}"]
    for role in last:
        if base and role in base:
            (rss0, fds0), (rss1, fds1) = base[role], last[role]
            print(f"{role}: {rss0} KiB then {rss1} KiB, {fds0} descriptors then {fds1}")
            if rss1 - rss0 > GROWTH_KB or fds1 > fds0 + 2:
                grown.append(f"{role} grew")
    print(*grown, sep="\n")
    return 1 if grown else 0


sys.exit(main())
