# SPDX-License-Identifier: BSD-3-Clause
"""What `%tacho list` says may be measured: of the kernel, as its recorder finds it."""

import json
import os
import shutil

import pytest

PREFIX = ["setpriv", "--bounding-set=-sys_ptrace,-perfmon,-sys_admin",
          "--inh-caps=-sys_ptrace,-perfmon,-sys_admin"]


def metrics(kernel):
    sources = json.loads(kernel.run("%tacho list --json").text)["sources"]
    return {m["name"]: m for s in sources for m in s["metrics"]}


@pytest.fixture
def kernel(place, start):
    """One that can take from others the right to look into it, also from us when we are root."""
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root may look into all, and there is no setpriv(1) to give that up")
        spec = place / "data" / "kernels" / "recorded" / "kernel.json"
        fields = json.loads(spec.read_text())
        fields["argv"] = PREFIX + fields["argv"]
        folder = place / "data" / "kernels" / "unprivileged"
        folder.mkdir(exist_ok=True)
        folder.joinpath("kernel.json").write_text(json.dumps(fields))
        return start("unprivileged")
    return start("recorded")


def test_of_the_kernel(kernel):
    """pitfall 12: what is denied of the kernel is denied, whatever may be read of who asks."""
    before = metrics(kernel)
    if not before["tree.read_bytes"]["available"]:
        pytest.skip("I/O of processes is not to be had here: " + before["tree.read_bytes"]["why"])
    assert before["tree.pss_bytes"]["available"]
    assert kernel.run("import ctypes; PR_SET_DUMPABLE = 4\n"
                      "assert ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0) == 0").status == "ok"
    after = metrics(kernel)
    assert after["tree.rss_bytes"]["available"]
    for name in ("tree.read_bytes", "tree.pss_bytes"):
        assert not after[name]["available"] and after[name]["why"].startswith("denied: ")
    # where perf was to be had, it is not of this one; that is nothing that a filter does
    text = kernel.run("%tacho list").text
    if before["tree.cpu_ns"]["resolution_ns"] == 0:
        assert "may not be looked into" in after["tree.cpu_ns"]["why"]
        assert "seccomp" not in text


def test_as_recorded(start):
    """The means by which the recorder counts CPU time is that of which list tells the resolution."""
    kernel = start("recorded")
    kernel.run("pass")
    told = metrics(kernel)["tree.cpu_ns"]
    events = json.loads(kernel.run("%tacho show --json").text)["events"]
    means = [e["event"]["by"] for e in events if e["what"] == "means"]
    assert (means[-1] == "perf") == (told["resolution_ns"] == 0)
