# SPDX-License-Identifier: BSD-3-Clause
"""jupyter_kernel_test and nbclient: ours gives what the plain kernel gives, test by test."""

import unittest

import jupyter_kernel_test
import nbclient
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from proxied import LONG


class Conformance(jupyter_kernel_test.KernelTests):
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples = [{"text": "zi", "matches": {"zip"}}]
    complete_code_samples = ["1", "print('hello, world')", "def f(x):\n  return x*2\n\n\n"]
    incomplete_code_samples = ["print('''hello", "def f(x):\n  x*2"]
    invalid_code_samples = ["import = 7q"]
    code_page_something = "zip?"
    code_generate_error = "raise"
    code_execute_result = [{"code": "1+2+3", "result": "6"},
                           {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"}]
    code_display_data = [{"code": "from IPython.display import HTML, display; display(HTML('<b>x</b>'))",
                          "mime": "text/html"}]
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"


class Welcome(jupyter_kernel_test.IopubWelcomeTests):
    support_iopub_welcome = True


del jupyter_kernel_test.KernelTests, jupyter_kernel_test.IopubWelcomeTests  # bases, no tests of ours


def outcomes(base, kernel):
    """Outcome of each test (subtests included) of a class for a kernel."""
    cls = type(f"{base.__name__}_{kernel}", (base,), {"kernel_name": kernel})
    result = unittest.TestResult()
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(cls)
    names = [test.id().rpartition(".")[2] for test in suite]
    suite.run(result)
    bad = {str(test).replace(kernel, "") for test, _ in result.failures + result.errors}
    return names, {b.replace(cls.__name__, base.__name__) for b in bad}, len(result.skipped)


@pytest.mark.parametrize("base", [Conformance, Welcome])
def test_same_as_plain(place, base):
    """One subtest of history fails in both: the suite compares a number with IPython's own."""
    plain, ours = outcomes(base, "plain"), outcomes(base, "ours")
    assert plain[0] and ours == plain


def test_notebook(place):
    book = new_notebook(cells=[new_code_cell(code) for code in (
        "print(1)", "%tacho a", "'two'", "%%display_code_history", "x = (", "4")])
    nbclient.NotebookClient(book, kernel_name="fake", timeout=LONG, allow_errors=True).execute()
    assert [c.execution_count for c in book.cells] == [1, 2, 3, 4, 5, 6]
    assert [[o.output_type for o in c.outputs] for c in book.cells] == [
        ["stream"], ["display_data"], ["execute_result"], ["display_data"], ["error"],
        ["execute_result"]]


# what unittest itself would collect here has no kernel
Conformance.__test__ = Welcome.__test__ = False
