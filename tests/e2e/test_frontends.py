# SPDX-License-Identifier: BSD-3-Clause
"""What people start kernels with: nbclient, papermill, a Jupyter server, the console, widgets."""

import os
import pathlib
import re
import subprocess
import sys
import time

import nbclient
import nbformat
import papermill
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from proxied import LONG, children, wait_gone
from served import ServedKernel, Server, printed


def notebook(*cells, kernel="recorded"):
    book = new_notebook(cells=[new_code_cell(code) for code in cells])
    book.metadata.kernelspec = {"name": kernel, "display_name": kernel, "language": "python"}
    return book


# ---- nbclient and papermill ----

def test_nbclient(place):
    book = notebook("print(1)", "%tacho a", "'two'", "%%display_code_history", "x = (", "4", kernel="fake")
    nbclient.NotebookClient(book, kernel_name="fake", timeout=LONG, allow_errors=True).execute()
    assert [c.execution_count for c in book.cells] == [1, 2, 3, 4, 5, 6]
    assert [[o.output_type for o in c.outputs] for c in book.cells] == [
        ["stream"], ["display_data"], ["execute_result"], ["display_data"], ["error"],
        ["execute_result"]]


def test_nbclient_that_allows_errors_stops_at_a_death(place):
    """The text stays in the notebook; what follows does not run in a kernel that knows nothing."""
    book = notebook("1/0", "import os; os.kill(os.getpid(), 9)", "print('after')")
    client = nbclient.NotebookClient(book, kernel_name="recorded", timeout=LONG, allow_errors=True)
    with pytest.raises(nbclient.exceptions.DeadKernelError):
        client.execute()
    assert book.cells[1].outputs[0].ename == "KernelDied" and not book.cells[2].outputs


def test_papermill(place, tmp_path):
    book = notebook("n = 1", "print(n)", "%tacho show")
    book.cells[0].metadata.tags = ["parameters"]
    source = tmp_path / "in.ipynb"
    nbformat.write(book, source)
    done = papermill.execute_notebook(str(source), str(tmp_path / "out.ipynb"), {"n": 42},
                                      progress_bar=False, log_output=False)
    assert [c.source for c in done.cells][1].startswith("# Parameters")
    assert done.cells[2].outputs[0].text == "42\n"
    assert "cores over time" in done.cells[3].outputs[0].text


def test_papermill_stops_at_a_death(place, tmp_path):
    nbformat.write(notebook("import os; os._exit(7)", "1"), tmp_path / "in.ipynb")
    with pytest.raises((papermill.PapermillExecutionError, nbclient.exceptions.DeadKernelError)):
        papermill.execute_notebook(str(tmp_path / "in.ipynb"), str(tmp_path / "out.ipynb"),
                                   progress_bar=False)
    text = (tmp_path / "out.ipynb").read_text()
    assert "exited with code 7" in text


def test_commands_of_the_tutorial(tmp_path):
    """They run as they are written, and each leaves a recording that is called after the kernel."""
    text = (pathlib.Path(__file__).parents[2] / "docs/tutorial.md").read_text()
    lines = re.search(r"^## Without a browser$.*?^```sh\n(.*?)^```$", text, re.M | re.S)[1].splitlines()
    assert [line.split()[0:2] for line in lines] == [
        ["jupyter", "execute"], ["jupyter", "nbconvert"], ["papermill", "-k"]]
    nbformat.write(notebook("6 * 7", kernel="python3"), tmp_path / "analysis.ipynb")
    for n, line in enumerate(lines):
        subprocess.run(line, shell=True, check=True, cwd=tmp_path, capture_output=True, timeout=LONG,
                       env={**os.environ, "TACHOGRAPH_DIR": str(tmp_path / str(n))})
        names = [p.name for p in (tmp_path / str(n)).glob("*.tacho")]
        assert len(names) == 1 and names[0].startswith("python3-"), (line, names)
    for name in ("executed", "converted", "filled"):
        done = nbformat.read(tmp_path / f"{name}.ipynb", 4)
        assert done.cells[0].outputs[0].data["text/plain"] == "42"


# ---- a Jupyter server, as its clients see it ----

@pytest.fixture(scope="module")
def server(place, tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    server.stop()


def test_server_runs_cells_and_magics(server):
    kernel = server.kernel("recorded")
    assert printed(kernel.run("print('hällo')")) == "hällo\n"
    assert "cores over time" in printed(kernel.run("%tacho show"))
    picture = kernel.run("%%display_graph_for_last")
    (data,) = [m["content"]["data"] for m in picture if m["msg_type"] == "display_data"]
    assert "image/png" in data
    server.call("DELETE", kernel.path)


def test_server_interrupts(server):
    kernel = server.kernel("recorded")
    msg_id = kernel.send("import time; time.sleep(600)")
    kernel.until(lambda m: m["msg_type"] == "execute_input")
    time.sleep(0.3)
    server.call("POST", kernel.path + "/interrupt")
    (reply,) = [m for m in kernel.finish(msg_id) if m["msg_type"] == "execute_reply"]
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    server.call("DELETE", kernel.path)


def test_server_restarts_a_busy_kernel(server):
    kernel = server.kernel("recorded")
    pid = int(printed(kernel.run("import os; print(os.getpid())")))
    kernel.send("import time; time.sleep(600)")
    kernel.until(lambda m: m["msg_type"] == "execute_input")
    server.call("POST", kernel.path + "/restart")
    wait_gone(pid)
    kernel = ServedKernel(server, kernel.path.rpartition("/")[2])
    assert printed(kernel.run("print('again')")) == "again\n"
    server.call("DELETE", kernel.path)


def test_server_restarts_a_dead_kernel(server):
    """Error, reply and idle come first, then the server's own restarting."""
    kernel = server.kernel("recorded")
    kernel.run("x = 1")
    msg_id = kernel.send("import os; os.kill(os.getpid(), 9)")
    messages = kernel.finish(msg_id)
    (reply,) = [m for m in messages if m["msg_type"] == "execute_reply"]
    assert reply["content"]["ename"] == "KernelDied" and "SIGKILL" in reply["content"]["evalue"]
    kernel.until(lambda m: m["content"].get("execution_state") in ("restarting", "autorestarting"))
    end = time.monotonic() + LONG
    while kernel.state() not in ("idle", "starting"):
        assert time.monotonic() < end
        time.sleep(0.2)
    assert printed(kernel.run("print('x' in globals())")) == "False\n"
    server.call("DELETE", kernel.path)


def test_killed_server_leaves_nothing(place, tmp_path):
    server = Server(tmp_path)
    kernel = server.kernel("recorded")
    inner = int(printed(kernel.run("import os; print(os.getpid())")))
    proxies = children(server.process.pid)
    server.process.kill()
    server.process.wait()
    wait_gone(inner, *proxies)
    server.log.close()


# ---- the console ----

def test_console(place, tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "jupyter_console", "--kernel", "recorded", "--simple-prompt"],
        input="print('h' + 'ällo')\n%tacho show\n1/0\nexit\n", capture_output=True, text=True,
        timeout=2 * LONG, cwd=tmp_path)
    assert "hällo" in result.stdout and "cores over time" in result.stdout, result.stdout + result.stderr
    assert "ZeroDivisionError" in result.stderr


# ---- widgets: the real ipywidgets, with a front end's part played here ----

def comm_of(result, model):
    """Id of the comm that a cell opened for a widget's model."""
    (comm,) = [c["comm_id"] for c in result.of("comm_open")
               if c["data"]["state"].get("_model_name") == model]
    return comm


def move(kernel, comm, value):
    """What a front end sends when a slider is moved; all that came in answer, until idle."""
    msg_id = kernel.send_content("comm_msg", {
        "comm_id": comm, "data": {"method": "update", "state": {"value": value}, "buffer_paths": []}})
    messages = []
    while not messages or messages[-1]["content"].get("execution_state") != "idle":
        m = kernel.client.get_iopub_msg(timeout=LONG)
        if m["parent_header"].get("msg_id") == msg_id:
            messages.append(m)
    return messages


def test_slider_calls_back(ours):
    comm = comm_of(ours.run(
        "import ipywidgets as w\ns = w.IntSlider(3)\n"
        "s.observe(lambda change: print('now', change.new), 'value')\ndisplay(s)"), "IntSliderModel")
    messages = move(ours, comm, 7)
    assert printed(messages) == "now 7\n"
    assert ours.run("s.value").data == ["7"]


def test_output_widget(ours):
    """Output goes to the widget's model and not to the cell."""
    result = ours.run("o = w.Output()\ndisplay(o)\nwith o:\n    print('inside')\nprint('outside')")
    assert "outside\n" in result.text
    assert any(c["data"].get("state", {}).get("msg_id") for c in result.of("comm_msg"))


def test_interact(ours):
    result = ours.run("f = w.interact(lambda x: print('x is', x), x=(0, 10))")
    assert "x is 5" in result.text
    messages = move(ours, comm_of(result, "IntSliderModel"), 9)
    assert "x is 9" in printed(messages)
