#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A recorded kernel under load: soak.py SECONDS.

Runs cells of every kind through the kernel `tachograph`: output, magics, displays, errors. In the
second half it is restarted twice, which the recorder outlives. Memory and descriptors of proxy,
recorder and worker are measured after a quiet moment at each quarter of the time; against the
first quarter none may have grown by more than a stated bound.
"""

import os
import pathlib
import sys
import time

from jupyter_client.manager import KernelManager

CELLS = [
    "1 + 1",
    "for i in range(200): print(i)",
    "for i in range(300): display({'text/plain': str(i)}, raw=True)",
    "import subprocess; subprocess.run(['true']).returncode",
    "kept = [bytes(1 << 20) for _ in range(20)]; del kept",
    "display({'text/plain': 'x' * 3_000_000}, raw=True)",
    "1 / 0",
    "%tacho show --span last",
    "%tacho chart --span last",
    "%tacho nonsense",
    "%%tacho\nsum(range(1000))",
    "%env JUMPER_REPORTS_MIN=2",
]
GROWTH_KB = 16 << 10  # allocators breathe; a leak of 1 KiB a cell passes this within the hour
GROWTH_FDS = 2
OURS = ("kernel", "recorder", "worker")  # roles of the executable, argv[1]
QUIET_S = 3  # memory is given back after a quiet half second


def status(pid: int) -> tuple[int, int]:
    """Memory in KiB and descriptors, but for one a thread that a kernel had when its count began."""
    entry = pathlib.Path("/proc", str(pid))
    rss = int((entry / "status").read_text().split("VmRSS:")[1].split()[0])
    return rss, sum("perf_event" not in os.readlink(fd) for fd in (entry / "fd").iterdir())


def ours(root: int, since: set[int]) -> dict[str, tuple[int, int]]:
    """Role: memory and descriptors, of our processes that were not there before."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in since:
            continue
        try:
            argv = (entry / "cmdline").read_bytes().split(b"\0")
            if len(argv) < 2 or pathlib.Path(argv[0].decode()).name not in ("tachograph", "tacho"):
                continue
            role, pid = argv[1].decode(), int(entry.name)
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if {"kernel": pid == root, "recorder": True, "worker": parent == root}.get(role):
                found[role] = status(pid)
        except (OSError, IndexError, UnicodeDecodeError):
            continue  # gone meanwhile
    return found


def main() -> int:
    seconds = float(sys.argv[1])
    before = {int(p.name) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit()}
    manager = KernelManager(kernel_name="tachograph")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    start, cells, restarts, grown = time.monotonic(), 0, 0, []
    base: dict[str, tuple[int, int]] = {}

    def run(code: str) -> None:
        nonlocal cells
        reply = client.execute_interactive(code, timeout=120, stop_on_error=False,
                                           output_hook=lambda message: None)
        assert reply["content"]["status"] in ("ok", "error"), reply
        cells += 1

    def measure() -> dict[str, tuple[int, int]]:
        run("%tacho show --span last")  # so that there is a worker
        time.sleep(QUIET_S)
        found = ours(manager.provisioner.pid, before)
        if set(found) != set(OURS):
            grown.append(f"of {OURS} there are {sorted(found)}")
        return found

    def compare(when: str) -> None:
        for role, (rss, fds) in measure().items():
            rss0, fds0 = base.get(role, (rss, fds))
            print(f"{when}: {role}: {rss0} KiB then {rss} KiB, {fds0} descriptors then {fds}",
                  flush=True)
            if rss - rss0 > GROWTH_KB or fds > fds0 + GROWTH_FDS:
                grown.append(f"{role} grew")

    try:
        # cells for half of the time, then a restart, a quarter, a restart, a quarter
        for end, restart in ((1 / 4, False), (1 / 2, False), (3 / 4, True), (1, True)):
            if restart:
                manager.restart_kernel()
                client.wait_for_ready(timeout=60)
                restarts += 1
            while time.monotonic() - start < seconds * end:
                run(CELLS[cells % len(CELLS)])
            if base:
                compare(f"{end:.0%}")
            else:
                base.update(measure())
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
    print(f"{cells} cells and {restarts} restarts in {seconds:.0f} s")
    print(*grown, sep="\n")
    return 1 if grown else 0


sys.exit(main())
