# SPDX-License-Identifier: BSD-3-Clause
"""Folders of their own for kernels under test, and kernels to talk to.

The executable is TG_EXE, else `tachograph` on PATH. Nothing is read from or written to the home
folder. `plain` is ipykernel without us: what it does is what ours must do.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile

import pytest

from proxied import Kernel

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="session")
def exe():
    path = os.environ.get("TG_EXE") or shutil.which("tachograph")
    if not path:
        pytest.fail("set TG_EXE or put tachograph on PATH")
    return os.path.abspath(path)


@pytest.fixture(scope="session")
def place(exe):
    """A world of kernelspecs and folders, in the environment for the length of the session."""
    root = pathlib.Path(tempfile.mkdtemp(prefix="tg-e2e-"))
    worker = str(HERE / "fake_worker.py")
    ours = [exe, "kernel", "-f", "{connection_file}", "--python", sys.executable]
    specs = {
        "plain": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "ours": ours + ["--kernel", "plain", "--no-record"],
        "ours-tcp": ours + ["--kernel", "plain", "--no-record", "--tcp"],
        "fake": ours + ["--kernel", "plain", "--worker", worker],
        "recorded": ours + ["--kernel", "plain"],
    }
    for name in ("ours", "fake", "recorded"):
        for error in ("ENOSYS", "EPERM"):
            specs[f"{name}-{error}"] = ["python", str(HERE / "without_calls.py"), error, *specs[name]]
    for name, argv in specs.items():
        folder = root / "data" / "kernels" / name
        folder.mkdir(parents=True)
        folder.joinpath("kernel.json").write_text(json.dumps({
            "argv": argv, "display_name": name, "language": "python",
            "metadata": {"debugger": True}}))
    for name in ("home", "run", "rec", "ipython", "runtime"):
        (root / name).mkdir(mode=0o700)
    changed = {"JUPYTER_PATH": root / "data", "HOME": root / "home", "XDG_RUNTIME_DIR": root / "run",
               "TACHOGRAPH_DIR": root / "rec", "IPYTHONDIR": root / "ipython",
               "JUPYTER_RUNTIME_DIR": root / "runtime", "JUPYTER_PLATFORM_DIRS": "1"}
    gone = [name for name in os.environ
            if name.startswith(("JUMPER_", "TACHOGRAPH_")) or name == "JPY_SESSION_NAME"]
    before = {name: os.environ.get(name) for name in [*changed, *gone]}
    for name in gone:
        del os.environ[name]
    os.environ.update({name: str(value) for name, value in changed.items()})
    yield root
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture
def denied(request):
    """Of tests that are marked `everywhere`: which system calls the kernels have to do without."""
    return getattr(request, "param", "")


@pytest.fixture
def start(place, denied):
    """Start kernels by name; all are stopped at the end of the test."""
    started = []

    def run(name="ours", **options):
        started.append(Kernel(name + denied, **options))
        return started[-1]

    yield run
    for kernel in started:
        kernel.stop()


def shared(name):
    """A fixture: one kernel for the tests of a module that leave it as it was."""
    @pytest.fixture(scope="module", name=name)
    def kernel(place):
        kernel = Kernel(name)
        yield kernel
        kernel.stop()
    return kernel


ours = shared("ours")
plain = shared("plain")
fake = shared("fake")
