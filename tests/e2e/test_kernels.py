# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of four kinds, each alone and with ours in front of it: what it does stays what it does.

Ours is installed by `tachograph install`, with its real worker and recorder.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import time
import unittest
from typing import NamedTuple

import jupyter_kernel_test
import pytest

from proxied import LONG, Kernel, children, wait_gone


class Language(NamedTuple):
    name: str  # of the kernelspec
    printed: str  # code that prints hällo
    failing: str
    sleeping: str  # for a minute
    die: str  # SIGKILL of the kernel
    asking: str = ""  # code that asks for a line and prints "got " and the line
    value: str = ""  # code whose value is 3
    partial: str = ""  # something to complete and its position is the end
    python: bool = False
    wrong: dict = {}  # test -> what the kernel itself does wrong, with and without ours
    samples: dict = {}  # for jupyter_kernel_test


PYTHON = dict(
    printed="print('hällo')", failing="1/0", sleeping="import time; time.sleep(60)",
    die="import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    asking="print('got', input('q? '))", value="1+2", partial="impo", python=True,
    samples=dict(
        language_name="python", file_extension=".py", code_hello_world="print('hello, world')",
        code_stderr="import sys; print('test', file=sys.stderr)",
        completion_samples=[{"text": "zi", "matches": {"zip"}}],
        complete_code_samples=["1", "print('hello, world')", "def f(x):\n  return x*2\n\n\n"],
        incomplete_code_samples=["print('''hello", "def f(x):\n  x*2"],
        invalid_code_samples=["import = 7q"], code_page_something="zip?", code_generate_error="raise",
        code_execute_result=[{"code": "1+2+3", "result": "6"},
                             {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"}],
        code_display_data=[{"code": "from IPython.display import HTML, display; display(HTML('<b>x</b>'))",
                            "mime": "text/html"}],
        code_history_pattern="1?2*", supported_history_operations=("tail", "range", "search"),
        code_inspect_sample="zip",
        code_clear_output="from IPython.display import clear_output; clear_output()"))

LANGUAGES = {language.name: language for language in (
    Language("ipython", **PYTHON),
    Language("xpython", **PYTHON, wrong={
        "test_magic_below_code": "says that there is no such magic, and that the cell is ok",
        "test_error_and_what_was_queued": "answers requests that it has together with one state",
        "test_interrupt[signal]": "ends at SIGINT", "test_interrupt[message]": "ends at SIGINT"}),
    Language(
        "bash", printed="echo hällo", failing="false", sleeping="sleep 60", die="kill -9 $PPID",
        partial="ech", samples=dict(
            language_name="bash", file_extension=".sh", code_hello_world="echo 'hello, world'",
            code_stderr="echo test >&2", completion_samples=[{"text": "ech", "matches": {"echo"}}],
            code_generate_error="false")),
    Language(
        "ir", printed='cat("hällo\\n")', failing='stop("no")', sleeping="Sys.sleep(60)",
        die="tools::pskill(Sys.getpid(), 9)", asking='cat("got", readline("q? "), "\\n")', value="1+2",
        partial="pri", wrong={"test_interrupt[message]": "reads control between cells only"}, samples=dict(
            language_name="R", file_extension=".r", code_hello_world='cat("hello, world")',
            code_stderr='message("test")', complete_code_samples=["1", "x <- 1"],
            completion_samples=[{"text": "zi", "matches": {"zip"}}],
            incomplete_code_samples=["function(x) {"], invalid_code_samples=["x ) y"],
            code_generate_error='stop("no")', code_execute_result=[{"code": "1+2+3", "result": "[1] 6"}],
            code_page_something="?zip", code_inspect_sample="zip")),
)}
SPECS = {
    "ipython": {"argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                "language": "python", "metadata": {"debugger": True}},
    "bash": {"argv": ["python", "-m", "bash_kernel", "-f", "{connection_file}"], "language": "bash",
             "env": {"PS1": "$"}},
}


def given_spec(name):
    """The kernelspec that another package installed."""
    for prefix in (sys.prefix, "/usr/local", "/usr"):
        folder = pathlib.Path(prefix, "share", "jupyter", "kernels", name)
        if folder.joinpath("kernel.json").exists():
            return json.loads(folder.joinpath("kernel.json").read_text())
    pytest.fail(f"there is no kernel {name}: scripts/test installs it")


@pytest.fixture(scope="module", params=LANGUAGES)
def language(request, place, exe):
    """Its kernelspec under its name, and ours, recorded-NAME."""
    name = request.param
    folder = place / "data" / "kernels" / name
    folder.mkdir()
    folder.joinpath("kernel.json").write_text(json.dumps(
        {"display_name": name, **(SPECS.get(name) or given_spec(name))}))
    subprocess.run([exe, "install", "--kernel", name, "--name", "recorded-" + name, "--prefix", place / "own"],
                   check=True, capture_output=True)
    shutil.move(place / "own/share/jupyter/kernels" / ("recorded-" + name), place / "data/kernels")
    return LANGUAGES[name]


@pytest.fixture(scope="module")
def plain(language):
    kernel = Kernel(language.name)
    yield kernel
    kernel.stop()


@pytest.fixture(scope="module")
def ours(language):
    kernel = Kernel("recorded-" + language.name)
    yield kernel
    kernel.stop()


@pytest.fixture(autouse=True)
def sound(request):
    """Tests that the kernel itself does not stand are skipped, with what it does."""
    if "language" in request.fixturenames:
        language = request.getfixturevalue("language")
        words = [w for w in request.node.callspec.id.split("-") if w != language.name]
        name = request.node.originalname + (f"[{'-'.join(words)}]" if words else "")
        if name in language.wrong:
            pytest.skip(f"{language.name} {language.wrong[name]}, also without ours")


def shape(result):
    """What a front end shows of an answer; ids and times are gone, and where a kernel cut its text in two."""
    types = [kind for kind, before in zip(result.types, [None, *result.types]) if (kind, before) != ("stream",) * 2]
    return (result.status, types, result.text, result.data,
            [sorted(c) for c in result.of("execute_result")])


def test_magic_below_code(plain, ours, language):
    """Each kernel says in its way that it has none; where it must stand comes behind that."""
    code = language.printed + "\n%tacho show"
    alone, result = plain.run(code), ours.run(code)
    assert result.status == alone.status == "error"
    assert result.text == alone.text + "%tacho must stand at the top of a cell, above its code and other magics.\n"


@pytest.mark.parametrize("what", ["printed", "failing", "value"])
def test_cell(language, plain, ours, what):
    code = getattr(language, what)
    if not code:
        pytest.skip(f"{language.name} has no {what}")
    assert shape(ours.run(code)) == shape(plain.run(code))


def test_kernelspec(language, place):
    spec = json.loads((place / "data/kernels" / ("recorded-" + language.name) / "kernel.json").read_text())
    inner = json.loads((place / "data/kernels" / language.name / "kernel.json").read_text())
    assert spec["language"] == inner["language"]
    assert spec.get("interrupt_mode", "signal") == inner.get("interrupt_mode", "signal")
    assert spec.get("metadata", {}).get("debugger") == inner.get("metadata", {}).get("debugger")


def test_magic(language, ours):
    """It is a cell like any other: echoed as it was typed, counted, answered in its place."""
    before = ours.run(language.printed).reply["content"]["execution_count"]
    result = ours.run("%tacho show")
    assert result.status == "ok"
    assert result.types == ["status:busy", "execute_input", "stream", "status:idle"]
    (echo,) = result.of("execute_input")
    assert echo["code"] == "%tacho show" and "cores over time" in result.text
    assert result.reply["content"]["execution_count"] == before + 1
    assert ours.run(language.printed).reply["content"]["execution_count"] == before + 2


def test_picture(language, ours):
    (display,) = ours.run("%%display_graph_for_last").of("display_data")
    assert {"image/png", "application/vnd.vegalite.v5+json"} <= set(display["data"])


def test_code_history(language, ours):
    ours.run(language.printed)
    result = ours.run("%%display_code_history")
    (display,) = result.of("display_data")
    assert language.printed in display["data"]["text/plain"]


def test_variable_needs_python(language, ours):
    result = ours.run("%%perfdata_to_variable v")
    if language.python:
        assert result.stderr == "" and "Exported performance data to v variable" in result.text
    else:
        assert result.stderr == ("%%perfdata_to_variable sets variables of Python only; "
                                 "%%perfdata_to_json writes a file.\n")


def test_queued_cells_and_magics_keep_their_order(language, ours):
    ids = [ours.send(code) for code in (language.printed, "%tacho show", language.printed)]
    replies, messages = ours.all_of(ids)
    assert [i for i, _ in replies] == [0, 1, 2]
    order = [i for i, m in messages if m["msg_type"] == "stream"]
    assert set(order) == {0, 1, 2}
    if language.name == "xpython":  # at times it says what a cell printed only when the next one is at work
        order = [i for i in order if i != 1]
    assert order == sorted(order)


def test_error_and_what_was_queued(language, plain, ours):
    """Kernels differ in whether they abort what waits; ours does what its kernel does."""
    # what comes when the error is past is not aborted: on a busy machine that may be the last one
    failing = language.sleeping.replace("60", "0.3") + "\n" + language.failing

    def statuses(kernel, middle):
        ids = [kernel.send(code) for code in (failing, middle, language.printed)]
        return [kernel.collect_reply(msg_id)["content"]["status"] for msg_id in ids]
    as_plain = statuses(plain, language.printed)
    assert statuses(ours, language.printed) == as_plain
    assert statuses(ours, "%tacho show") == as_plain


@pytest.mark.parametrize("options", [dict(silent=True), dict(store_history=False),
                                     dict(stop_on_error=False)])
def test_options_of_a_request(language, plain, ours, options):
    for code in (language.printed, language.failing):
        assert shape(ours.run(code, **options)) == shape(plain.run(code, **options))


def test_silent_magic_says_nothing(language, ours):
    result = ours.run("%tacho show", silent=True)
    assert not result.of("stream") and not result.of("display_data")


def test_user_expressions(language, plain, ours):
    if not language.value:
        pytest.skip(f"{language.name} has no values")
    def expression(kernel):
        return kernel.run("", user_expressions={"a": language.value}).reply["content"].get("user_expressions")
    assert expression(ours) == expression(plain)


@pytest.mark.parametrize("ask", ["complete", "inspect", "is_complete", "history", "comm_info", "kernel_info"])
def test_requests(language, plain, ours, ask):
    contents = {
        "complete": {"code": language.partial, "cursor_pos": len(language.partial)},
        "inspect": {"code": language.partial, "cursor_pos": len(language.partial), "detail_level": 0},
        "is_complete": {"code": language.printed},
        "history": {"hist_access_type": "tail", "n": 0, "output": False, "raw": True},
    }
    def content(kernel):
        reply = kernel.request(ask + "_request", contents.get(ask, {}), "shell")["content"]
        return {**reply, "banner": None}  # IPython's has a random tip
    assert content(ours) == content(plain)


def test_input(language, ours):
    if not language.asking:
        pytest.skip(f"{language.name} asks for nothing")
    result = ours.run(language.asking, stdin="hällo", allow_stdin=True)
    assert "input_request" in result.types and "got hällo" in result.text


@pytest.mark.parametrize("how", ["signal", "message"])
def test_interrupt(language, plain, ours, how):
    def interrupted(kernel):
        msg_id = kernel.send(language.sleeping)
        kernel.wait_input(msg_id)
        time.sleep(0.5)
        if how == "signal":
            kernel.manager.interrupt_kernel()
        else:
            kernel.request("interrupt_request")
        reply = kernel.collect_reply(msg_id)["content"]
        return reply["status"], reply.get("ename")
    assert interrupted(ours) == interrupted(plain)
    assert "hällo" in ours.run(language.printed).text


def test_second_client(language, ours):
    other = ours.another()
    try:
        msg_id = ours.send(language.printed)
        ours.collect(msg_id)
        types = set()
        while "idle" not in types:
            m = other.get_iopub_msg(timeout=LONG)
            if m["parent_header"].get("msg_id") == msg_id:
                types.add(m["content"].get("execution_state") or m["msg_type"])
        assert {"busy", "execute_input", "stream"} <= types
    finally:
        other.stop_channels()


def test_restart(language, start):
    kernel = start("recorded-" + language.name)
    kernel.run(language.printed)
    kernel.restart()
    result = kernel.run(language.printed)
    assert "hällo" in result.text and result.reply["content"]["execution_count"] == 1


def test_death(language, start):
    kernel = start("recorded-" + language.name)
    kernel.run(language.printed)
    result = kernel.run(language.die)
    assert result.status == "error" and result.reply["content"]["ename"] == "KernelDied"
    assert "SIGKILL" in result.reply["content"]["evalue"]
    assert kernel.wait_end() != 0


def test_shutdown_leaves_nothing(language, start, place):
    def folders():
        return list((place / "run/tachograph").glob("k-*"))
    before = folders()
    kernel = start("recorded-" + language.name)
    kernel.run(language.printed)
    pids = [kernel.pid, *children(kernel.pid)]
    kernel.manager.shutdown_kernel()
    wait_gone(*pids)
    assert not [p for p in folders() if p not in before]


def outcomes(language, base, kernel):
    """Outcome of each test (subtests included) of jupyter_kernel_test for a kernel."""
    options = {**language.samples, "support_iopub_welcome": True, "kernel_name": kernel}
    cls = type(f"{base.__name__}_{kernel}", (base,), options)
    result = unittest.TestResult()
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(cls)
    names = [test.id().rpartition(".")[2] for test in suite]
    suite.run(result)
    bad = {str(test).replace(kernel, "") for test, _ in result.failures + result.errors}
    return names, {b.replace(cls.__name__, base.__name__) for b in bad}, len(result.skipped)


def test_jupyter_kernel_test(language):
    """Where a kernel fails a test of that suite, it does so behind ours, and nowhere else.

    One of history fails in ipykernel: the suite compares a number with IPython's own. Only ipykernel
    sends iopub_welcome.
    """
    bases = [jupyter_kernel_test.KernelTests]
    if language.name == "ipython":
        bases.append(jupyter_kernel_test.IopubWelcomeTests)
    for base in bases:
        plain = outcomes(language, base, language.name)
        assert plain[0] and outcomes(language, base, "recorded-" + language.name) == plain
