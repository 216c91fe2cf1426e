# SPDX-License-Identifier: BSD-3-Clause
"""Magics and what cells print, with a worker that does as it is told (fake_worker.py)."""

import json
import os
import pathlib
import shutil
import signal
import time

import pytest

from proxied import LONG, children, wait_gone


def request_of(result):
    (text,) = result.data
    return json.loads(text)


def worker_of(kernel):
    """Pid of the worker, or None."""
    for pid in children(kernel.pid):
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            if b"fake_worker" in f.read():
                return pid
    return None


def holds(kernel, folder):
    """Whether a kernel's proxy holds the lock of a private folder."""
    return any(os.path.realpath(fd) == str(folder) for fd in pathlib.Path(f"/proc/{kernel.pid}/fd").iterdir())


# ---- which cells are ours, and what the kernel gets ----

@pytest.mark.parametrize("code", [
    "%tacho x", "%%display_graph_for_all", "%display_code_history", "\n\n# note\n  %%display_graph_for_last\n",
    "%%display_code_for_index 3\nthis is (no code", "%tacho a\n%tacho b", "%%perfdata_to_json f", "%tacho?"])
def test_magic(fake, code):
    """In its place, with its own text as input, once, and nothing executed."""
    result = fake.run(code)
    assert result.status == "ok"
    assert result.types == ["status:busy", "execute_input", "display_data", "status:idle"]
    assert result.of("execute_input")[0]["code"] == code
    assert request_of(result)["code"] == code


def test_request(fake, place):
    request = request_of(fake.run("%tacho x"))
    assert request["do"] == "magic" and request["kernel"]["language"] == "python"
    assert request["kernel"]["pid"] == fake.inner_pid()
    assert request["kernel"]["cwd"] == os.getcwd()
    assert request["recorder"]["file"].startswith(str(place / "rec"))
    assert os.path.exists(request["recorder"]["socket"])
    assert request["settings"]["report"] == "line"


def test_counter_and_history(fake):
    """P12: the kernel executes a comment: its counter and history go on."""
    first = fake.run("'one'").reply["content"]["execution_count"]
    fake.run("%%display_code_history\nx")
    assert fake.run("'three'").reply["content"]["execution_count"] == first + 2
    history = fake.request("history_request", {
        "output": False, "raw": True, "hist_access_type": "tail", "n": 3}, channel="shell")
    assert [line[2] for line in history["content"]["history"]] == [
        "'one'", "# %%display_code_history\n# x", "'three'"]


def test_code_below_lines(fake):
    result = fake.run("%tacho a\n\n%display_code_history\nprint('below')\n'value'")
    assert result.status == "ok" and result.text == "below\n" and "'value'" in result.data


def test_cells_that_are_not_ours(fake):
    assert "UsageError" in fake.run("%tachos").text
    assert "UsageError" in fake.run("%%display_graph_for_lastXYZ\n").text
    assert fake.run("x = '''\n%tacho a\n'''; print(x)").text == "\n%tacho a\n\n"
    assert fake.run("%time 1").status == "ok"


@pytest.mark.parametrize("code, name", [
    ("z = 1\n%tacho show", "%tacho"), ("%%time\n%display_code_history", "%display_code_history"),
    ("z = 1\n%%tacho", "%%tacho")])
def test_below_code(fake, plain, code, name):
    """The kernel gets it and says what it says; where it must stand comes behind that."""
    sentence = f"{name} must stand at the top of a cell, above its code and other magics.\n"
    result, bare = fake.run(code), plain.run(code)
    assert result.status == bare.status == "error"
    assert result.reply["content"]["ename"] == bare.reply["content"]["ename"]
    assert result.stderr == bare.stderr + sentence
    assert result.messages[-2]["content"] == {"name": "stderr", "text": sentence}
    assert result.types[-1] == "status:idle"
    assert sentence in fake.run(f"%tacho x\n1/0\n{name}").stderr  # the failure may be another


def test_below_code_that_does_not_fail(fake):
    assert fake.run("x = '''\n%tacho a\n'''").types == ["status:busy", "execute_input", "status:idle"]
    assert "must stand" not in fake.run("1/0").text
    assert fake.run("z = 1\n%tacho x", silent=True).stderr.count("must stand") == 0


def test_silent(fake):
    """P4: nothing is said in a silent cell."""
    result = fake.run("%tacho x", silent=True)
    assert result.status == "ok" and result.types == ["status:busy", "status:idle"]


def test_order_with_queued_cells(fake):
    ids = [fake.send("import time; time.sleep(.2); print('A')"), fake.send("%tacho sleep 0.5"),
           fake.send("print('B')")]
    replies, messages = fake.all_of(ids)
    assert [i for i, _ in replies] == [0, 1, 2]
    assert [(i, m["content"]["text"]) for i, m in messages if m["msg_type"] == "stream"] == [
        (0, "A\n"), (1, "slept\n"), (2, "B\n")]
    assert [i for i, _ in messages] == sorted(i for i, _ in messages)


def test_magic_behind_an_error_is_aborted(fake):
    ids = [fake.send("import time; time.sleep(.3); 1/0"), fake.send("%tacho x")]
    replies, messages = fake.all_of(ids)
    assert [m["content"]["status"] for _, m in replies] == ["error", "aborted"]
    assert {m["msg_type"] for i, m in messages if i} == {"status"}


def test_magic_in_a_subshell(fake):
    subshell = fake.request("create_subshell_request")["content"]["subshell_id"]
    main = fake.send(f"import threading; e = threading.Event(); print(e.wait({LONG}))")
    fake.wait_input(main)
    content = {"code": "%tacho x", "silent": False, "store_history": False,
               "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}
    sub = fake.send_content("execute_request", content, subshell_id=subshell)
    fake.wait_iopub(sub, "display_data")
    fake.send_content("execute_request", {**content, "code": "e.set()"}, subshell_id=subshell)
    # the newline may come in a message of its own
    assert fake.wait_iopub(main, "stream")["content"]["text"].startswith("True")
    fake.collect_reply(main)
    fake.request("delete_subshell_request", {"subshell_id": subshell})


# ---- a worker that fails ----

@pytest.mark.parametrize("what", ["crash", "garbage", "length"])
def test_worker_fails(fake, what):
    """One sentence, a reply, and a new worker."""
    result = fake.run(f"%tacho {what}")
    assert result.status == "ok" and result.types[-1] == "status:idle"
    assert result.stderr.startswith("tachograph: the magic was not answered")
    assert result.stderr.count("\n") == 1
    assert fake.run("%tacho x").data


def test_worker_hangs(fake):
    result = fake.run("%tacho hang")
    assert result.status == "ok"
    assert result.stderr == "tachograph: the magic was not answered within 10 s.\n"
    assert fake.run("%tacho x").data


def test_worker_says_what_it_must_not(fake):
    assert fake.run("%tacho lie").types == [
        "status:busy", "execute_input", "stream", "status:idle"]


def test_huge_answer(fake):
    assert len(fake.run("%tacho huge 20000000").text) == 20000000


def test_worker_dies_while_idle(fake):
    fake.run("%tacho x")
    pid = worker_of(fake)
    os.kill(pid, 9)
    wait_gone(pid)
    assert fake.run("print(1)").text == "1\n"
    assert fake.run("%tacho x").data


def test_worker_leaves_as_it_is_asked(fake):
    """Another is asked, once: who asked does not notice."""
    fake.run("%tacho x")
    pid = worker_of(fake)
    os.kill(pid, signal.SIGSTOP)  # it has the question, and will not answer it
    msg_id = fake.send("%tacho x")
    fake.wait_input(msg_id)
    time.sleep(0.3)
    os.kill(pid, signal.SIGKILL)
    result = fake.collect(msg_id)
    assert request_of(result)["do"] == "magic" and not result.stderr
    assert worker_of(fake) not in (None, pid)


def test_interrupt_does_not_reach_the_worker(fake):
    fake.run("%tacho x")
    pid = worker_of(fake)
    msg_id = fake.send("import time; time.sleep(60)")
    fake.wait_input(msg_id)
    time.sleep(0.3)
    fake.manager.interrupt_kernel()
    assert fake.collect_reply(msg_id)["content"]["ename"] == "KeyboardInterrupt"
    assert worker_of(fake) == pid


def test_no_worker_at_all(start, place, exe):
    folder = place / "data" / "kernels" / "noworker"
    folder.mkdir(exist_ok=True)
    spec = json.loads((place / "data/kernels/fake/kernel.json").read_text())
    spec["argv"][spec["argv"].index("--worker") + 1] = "/nonexistent/worker"
    (folder / "kernel.json").write_text(json.dumps(spec))
    result = start("noworker").run("%tacho x")
    assert result.status == "ok" and "cannot be answered" in result.stderr


# ---- perfdata_to_variable ----

def test_variable(fake):
    result = fake.run("%%perfdata_to_variable v\nignored (")
    assert result.status == "ok" and not result.stderr
    assert fake.run("v").data == ["[[1, 2.5], 'ä', None]"]
    assert fake.run("%perfdata_to_variable w\nw[1]").data[-1] == "'ä'"


@pytest.mark.parametrize("code, sentence", [
    ("%%perfdata_to_variable", "No variable to export specified. Use: %%perfdata_to_variable myvar\n"),
    ("%%perfdata_to_variable 1x", '"1x" is no name for a variable. Use: %%perfdata_to_variable myvar\n'),
    ("%%perfdata_to_variable class", '"class" is no name for a variable. Use: %%perfdata_to_variable myvar\n'),
    ("%%perfdata_to_variable a;b", '"a;b" is no name for a variable. Use: %%perfdata_to_variable myvar\n'),
    ("%perfdata_to_variable a\n%perfdata_to_variable b", "%perfdata_to_variable can be used once in a cell.\n"),
])
def test_no_variable(fake, code, sentence):
    result = fake.run(code)
    assert result.status == "ok" and result.stderr == sentence


@pytest.mark.parametrize("what", ["crash", "garbage"])
def test_variable_when_the_worker_fails(fake, what):
    """The kernel gets an empty list: it never hangs."""
    result = fake.run(f"%tacho {what}\n%perfdata_to_variable u\nprint(u)")
    assert result.status == "ok" and "[]\n" in result.text and "not answered" in result.stderr


def test_variable_when_the_folder_is_gone(start, place):
    """It is made again; where that is not possible, a sentence says so."""
    kernel = start("fake")
    runtime = place / "run" / "tachograph"
    (folder,) = [f for f in runtime.glob("k-*") if holds(kernel, f)]
    shutil.rmtree(folder)
    result = kernel.run("%%perfdata_to_variable v")
    assert result.status == "ok" and not result.stderr
    assert kernel.run("v").data == ["[[1, 2.5], 'ä', None]"]
    shutil.rmtree(folder)
    folder.touch()
    result = kernel.run("%%perfdata_to_variable v")
    assert result.status == "ok" and result.stderr.startswith("The variable cannot be set: ")
    folder.unlink()


def test_interrupt_while_the_variable_is_awaited(fake):
    msg_id = fake.send("%tacho hang\n%perfdata_to_variable u\nprint(u)")
    fake.wait_input(msg_id)
    time.sleep(0.5)
    fake.manager.interrupt_kernel()
    result = fake.collect(msg_id)
    assert result.reply["content"]["ename"] == "KeyboardInterrupt"
    assert "within 10 s" not in result.text  # nor was the worker's limit waited for
    assert fake.run("%tacho x").data


# ---- what cells print, settings ----

def test_line_for_long_cells_only(fake):
    assert fake.run("print(1)").text == "1\n"
    result = fake.run_until_printed("import time; time.sleep(2.1)")
    assert result.text.startswith("line ")
    assert fake.run("import time; time.sleep(2.1)", store_history=False).text == ""
    assert fake.run("import time; time.sleep(2.1)", silent=True).text == ""


def test_cost_of_a_cell(fake):
    result = fake.run("%%tacho\n1+1")
    assert result.data == ["2"] and result.text.startswith("line ")
    assert result.types.index("stream") > result.types.index("execute_result")
    assert result.of("execute_input")[0]["code"] == "%%tacho\n1+1"


def test_error_in_a_cell_that_prints(fake):
    result = fake.run("%%tacho\n1/0")
    assert result.status == "error" and result.text.startswith("line ")


@pytest.mark.parametrize("how", ["crash", "hang"])
def test_a_report_that_fails_is_silent(fake, how):
    """The idle of a cell that prints waits for 250 ms at most, and nothing is said."""
    result = fake.run(f"import time; time.sleep(2.1)  # worker: {how}")
    assert result.status == "ok" and result.text == ""


def test_a_worker_may_set_what_is_a_setting(start):
    fake = start("fake")
    fake.run('%tacho set report "none"')
    assert fake.run("import time; time.sleep(2.1)").text == ""
    fake.run('%tacho set report "line"')
    fake.run('%tacho set other {"a":[1,null]}')
    fake.run('%tacho set interval_s 0')
    request = request_of(fake.run("%tacho x"))
    assert "other" not in request["settings"] and request["settings"]["interval_s"] == 0.1
    assert request["from"]["report"].startswith("%tacho set in cell [")
    fake.run('%tacho set report null')
    assert request_of(fake.run("%tacho x"))["from"] == {}
