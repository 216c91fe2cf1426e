# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that clients append to a kernel's command: they are for the user's kernel."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import nbclient
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from proxied import LONG, recorder_of, wait_gone

WORKER = str(pathlib.Path(__file__).with_name("fake_worker.py"))
# A kernel that takes any arguments; /proc has them as they came.
ANY = ["python", "-c", "import sys; del sys.argv[3:]; import ipykernel.kernelapp as app; "
       "app.launch_new_instance()", "-f", "{connection_file}"]
SEEN = "print(open('/proc/self/cmdline', 'rb').read()[-{}:].hex())"
ODD = [b"--HistoryManager.hist_file=:memory:", b"", b"two words", b"-f", b"/not/ours", b"--", b"--no-record",
       b"\xff\xfe", b"line\nand\ttab", "--näme=…".encode(), b"{prefix", b"$HOME", b"x" * 100_000, b""]


@pytest.fixture
def specs(place):
    """Write kernelspecs by name, gone after the test."""
    made = []

    def write(name, argv):
        folder = place / "data" / "kernels" / name
        folder.mkdir()
        made.append(folder)
        (folder / "kernel.json").write_text(json.dumps(
            {"argv": argv, "display_name": name, "language": "python"}))
    yield write
    for folder in made:
        shutil.rmtree(folder)


def installed(*args):
    subprocess.run([sys.executable, "-m", "tachograph.install", *args], check=True, capture_output=True,
                   timeout=LONG)


def arguments(kernel, sent):
    """What the user's kernel has in the place of `sent` at the end of its command."""
    length = sum(len(arg) + 1 for arg in sent)
    return bytes.fromhex(kernel.run(SEEN.format(length)).text).split(b"\0")[:-1]


@pytest.mark.parametrize("end", [["--"], []], ids=["separator", "as once installed"])
def test_arguments_arrive_byte_by_byte(specs, exe, start, end):
    sent = ODD if end else [arg for arg in ODD if arg != b"--no-record"]
    specs("any", ANY)
    specs("ours-any", [exe, "kernel", "-f", "{connection_file}", "--python", sys.executable, "--kernel", "any",
                       "--no-record", *end])
    kernel = start("ours-any", extra_arguments=[os.fsdecode(arg) for arg in sent])
    assert arguments(kernel, sent) == sent


def test_arguments_through_the_module(specs, start):
    """`python -m tachograph kernel …`, as the wheel's own kernelspec has it."""
    specs("any", ANY)
    specs("module", ["python", "-m", "tachograph", "kernel", "-f", "{connection_file}", "--kernel", "any",
                     "--no-record", "--"])
    sent = [b"--python", b"\xff"]
    kernel = start("module", extra_arguments=[os.fsdecode(arg) for arg in sent])
    assert arguments(kernel, sent) == sent


def test_arguments_are_in_no_recording(specs, exe, start, tmp_path):
    """But of the kernel's command line, as of any process, secrets masked."""
    specs("any", ANY)
    specs("recorded-any", [exe, "kernel", "-f", "{connection_file}", "--python", sys.executable,
                           "--kernel", "any", "--worker", WORKER, "--"])
    kernel = start("recorded-any", env={**os.environ, "TACHOGRAPH_DIR": str(tmp_path)},
                   extra_arguments=["--token=geheim", "--shown=offen"])
    pid = kernel.inner_pid()
    recorder = recorder_of(kernel)
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel()
    wait_gone(recorder)
    (path,) = tmp_path.glob("*.tacho")
    subprocess.run([exe, "export", path, "-o", tmp_path / "all.json"], check=True, timeout=LONG)
    text = (tmp_path / "all.json").read_text()
    content = json.loads(text)
    assert "geheim" not in text
    told = [p for p in content["processes"] if "offen" in json.dumps(p)]
    assert [p["pid"] for p in told] == [pid] and text.count("offen") == 1


@pytest.mark.parametrize("old", [False, True], ids=["separator", "as once installed"])
def test_nbclient_through_a_kernel_in_place(specs, place, old):
    """nbclient keeps the history of a kernel named python3 out of its file, by an argument."""
    specs("python3", ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"])
    installed("--kernel", "python3", "--in-place", "--prefix", str(place / "prefix"))
    spec = place / "prefix/share/jupyter/kernels/python3/kernel.json"
    content = json.loads(spec.read_text())
    assert content["argv"].pop() == "--"
    if not old:
        content["argv"].append("--")
    (place / "data/kernels/python3/kernel.json").write_text(json.dumps(content))
    book = new_notebook(cells=[new_code_cell("get_ipython().history_manager.hist_file"),
                               new_code_cell("%tacho show")])
    nbclient.NotebookClient(book, kernel_name="python3", timeout=LONG).execute()
    assert book.cells[0].outputs[0].data["text/plain"] == "':memory:'"
    assert "cores over time" in book.cells[1].outputs[0].text


def run_by_hand(exe, *args):
    return subprocess.run([exe, "kernel", *args], capture_output=True, text=True, timeout=LONG)


@pytest.mark.parametrize("args, sentence", [
    (["--kernl", "ir", "-f", "x"], "There is no option --kernl; did you mean --kernel?"),
    (["--kernl=ir", "-f", "x"], "There is no option --kernl=ir; did you mean --kernel?"),
    (["bogus", "-f", "x"], 'kernel: "bogus" is one argument too many'),
    (["--", "-f", "x"], 'kernel: "-f" is one argument too many'),
    (["--no-record"], "kernel: -f CONNECTION_FILE is missing; Jupyter gives it")])
def test_mistakes_before_the_connection_file_are_told(exe, args, sentence):
    result = run_by_hand(exe, *args)
    assert (result.returncode, result.stderr) == (2, f"tachograph: {sentence}\n")


def test_near_misses_behind_it_are_passed_on_and_told(exe, tmp_path):
    result = run_by_hand(exe, "-f", tmp_path / "none", "--kernl=geheim")
    assert result.stderr.startswith(
        "tachograph: kernel: --kernl goes to the user's kernel; did you mean --kernel?\n")
    assert "geheim" not in result.stderr and result.stderr.count("\n") == 2  # there is no such file
    assert run_by_hand(exe, "-f", tmp_path / "none", "--", "--kernl").stderr.count("\n") == 1
