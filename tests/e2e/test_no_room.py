# SPDX-License-Identifier: BSD-3-Clause
"""Folders for sockets that are full or cannot be written: there is a kernel all the same."""

import json
import os
import subprocess
import time

import pytest

from proxied import LONG

# Each kernel has a mount namespace of its own; the first argument is options of mount, then come
# the folders, and behind "--" what runs.
SCRIPT = ('options=$1; shift; while [ "$1" != -- ]; do mkdir -p -m 700 "$1" && '
          'mount -t tmpfs -o "$options" tmpfs "$1" || exit 9; shift; done; shift; exec "$@"')
FULL = "size=4k,nr_inodes=1,mode=700"
READ_ONLY = "ro,mode=700"


@pytest.fixture(scope="module")
def namespace():
    """How to get a mount namespace: as root, else in a user namespace."""
    for how in (["unshare", "-m"], ["unshare", "-rm"]):
        if subprocess.run([*how, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0:
            return how
    pytest.skip("no mount namespace for us")


@pytest.fixture
def start_in(start, place, namespace, tmp_path):
    """Start a kernel that finds no room in some folders; it may be recorded."""
    def run(options, *folders, **env):
        folder = place / "data" / "kernels" / "noroom"
        folder.mkdir(exist_ok=True)
        spec = json.loads((place / "data/kernels/fake/kernel.json").read_text())
        spec["argv"] = [*namespace, "sh", "-c", SCRIPT, "sh", options, *map(str, folders), "--", *spec["argv"]]
        (folder / "kernel.json").write_text(json.dumps(spec))
        return start("noroom", env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "run"),
                                    "TMPDIR": str(tmp_path / "tmp"), "TACHOGRAPH_DIR": str(tmp_path), **env})
    (tmp_path / "run").mkdir()
    (tmp_path / "tmp").mkdir()
    return run


@pytest.mark.parametrize("options", [FULL, READ_ONLY])
def test_runtime_folder(start_in, tmp_path, options):
    """The next one serves, to proxy and recorder both."""
    kernel = start_in(options, tmp_path / "run" / "tachograph")
    result = kernel.run("print(1)")
    assert result.text == "1\n"
    socket = json.loads(kernel.run("%tacho x").data[0])["recorder"]["socket"]
    assert socket.startswith(str(tmp_path / "tmp" / f"tachograph-{os.getuid()}" / "kernel-"))
    kernel.run("2")
    socket = json.loads(kernel.run("%tacho x").data[0])["recorder"]["socket"]
    assert os.path.dirname(socket) == str(tmp_path / "tmp" / f"tachograph-{os.getuid()}")
    assert os.path.exists(socket) and list(tmp_path.glob("*.tacho"))


def check_unrecorded(kernel, why):
    """Nothing is recorded, which is said once, and the kernel is there."""
    said, end = "", time.monotonic() + LONG
    while not said and time.monotonic() < end:  # the recorder has two tries
        result = kernel.run("print(1)")
        assert "1\n" in result.text
        said = result.stderr
        time.sleep(0.05)
    assert said.startswith("tachograph: nothing is recorded: " + why)
    assert kernel.run("print(2)").text == "2\n"
    assert json.loads(kernel.run("%tacho x").data[0])["recorder"] is None
    beside = os.path.dirname(kernel.manager.connection_file)
    assert [name for name in os.listdir(beside) if name.startswith("k-")]
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel()
    assert not [name for name in os.listdir(beside) if name.startswith("k-")]


def test_no_folder_at_all(start_in, tmp_path):
    uid = os.getuid()
    check_unrecorded(start_in(READ_ONLY, tmp_path / "run" / "tachograph", tmp_path / "tmp" / f"tachograph-{uid}",
                              f"/tmp/tachograph-{uid}"), "cannot write to ")


def test_chosen_folder(start_in, tmp_path):
    """One that was named is not left for another."""
    folder = tmp_path / "chosen" / "tachograph"
    kernel = start_in(FULL, folder, TACHOGRAPH_RUNTIME_DIR=str(folder.parent))
    check_unrecorded(kernel, f"cannot open {folder}/kernel-")
